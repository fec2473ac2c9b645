"""nginx, Apache, HAProxy and Caddy: each with one configuration for all that they speak, and a log of its own."""

import os

from common.processes import Scratch
from suite.sites import TOOLS, program

from .instance import Instance

STATUSES = (404, 500)

NGINX = """\
daemon off;
{user}pid {place}/nginx.pid;
error_log stderr error;
events {{ worker_connections 512; }}
http {{
    log_format counts '$request_method $request_uri $status $body_bytes_sent $connection '
        '$server_protocol .$request_completion';
    access_log {log} counts;
    client_body_temp_path {place}/body;
    proxy_temp_path {place}/proxy;
    fastcgi_temp_path {place}/fastcgi;
    uwsgi_temp_path {place}/uwsgi;
    scgi_temp_path {place}/scgi;
    keepalive_requests {limit};
    ssl_certificate {certificate};
    ssl_certificate_key {key};
    server {{
        listen {loopback}:{plain};
        listen {loopback}:{prior} http2;
        listen {loopback}:{tls} ssl http2;
        root {content};
        location = /echo {{ return 200 "echo"; }}
        location = /status/204 {{ return 204; }}
{statuses}    }}
}}
"""


def nginx(scratch: Scratch, instance: Instance) -> None:
    """HTTP/2 in the clear has a port of its own in its versions before 1.25."""
    statuses = "".join(f'        location = /status/{code} {{ return {code} "status {code}"; }}\n' for code in STATUSES)
    user = "user www-data;\n" if os.geteuid() == 0 else ""
    file = instance.write("nginx.conf", NGINX, user=user, statuses=statuses, limit=instance.limit or 100_000)
    command = [program("nginx", "nginx-light"), "-p", instance.place, "-e", "stderr", "-c", file]
    instance.start(scratch, command, instance.plain)


APACHE = """\
ServerRoot {place}
PidFile {place}/apache.pid
ServerName localhost
Listen {loopback}:{plain}
Listen {loopback}:{tls}
{modules}
ErrorLog {place}/apache.log
{user}Protocols h2 h2c http/1.1
MaxKeepAliveRequests {limit}
KeepAliveTimeout 30
LogFormat "%m %U%q %>s %B %{{remote}}p %H %X" counts
CustomLog {log} counts
DocumentRoot {content}
{rewrites}
<VirtualHost {loopback}:{tls}>
    SSLEngine on
    SSLCertificateFile {certificate}
    SSLCertificateKeyFile {key}
    CustomLog {log} counts
    {rewrites}
</VirtualHost>
"""

MODULES = ("mpm_event", "authz_core", "rewrite", "ssl", "http2", "socache_shmcb")


def apache(scratch: Scratch, instance: Instance) -> None:
    """One port for both versions in the clear: it knows HTTP/2 by its preface."""
    modules = "\n".join(f"LoadModule {name}_module /usr/lib/apache2/modules/mod_{name}.so" for name in MODULES)
    user = "User www-data\nGroup www-data\n" if os.geteuid() == 0 else ""
    rewrites = "RewriteEngine on\n" + "\n".join(
        f"RewriteRule ^/status/{code}$ - [R={code},L]" for code in (204, *STATUSES)
    )
    more = {"user": user, "modules": modules, "rewrites": rewrites}
    file = instance.write("apache.conf", APACHE, limit=instance.limit or 0, **more)
    command = [program("apache2", "apache2-bin"), "-DFOREGROUND", "-f", file]
    instance.start(scratch, command, instance.plain)


HAPROXY = """\
global
    log stdout format raw local0 info
    nbthread 1
defaults
    mode http
    log global
    option dontlognull
    timeout connect 5s
    timeout client 30s
    timeout server 30s
frontend counts
    bind {loopback}:{plain}
    bind {loopback}:{prior} proto h2
    bind {loopback}:{tls} ssl crt {both} alpn h2,http/1.1
    {option}
    http-after-response set-var(txn.size) res.hdr(content-length)
    log-format "%HM %HU %ST %[var(txn.size)] %cp %HV %ts"
    http-request return status 204 if {{ path /status/204 }}
{statuses}    default_backend site
backend site
    server site {loopback}:{upstream}
"""


def haproxy(scratch: Scratch, instance: Instance) -> None:
    """Bodies come from the application in Go behind it, statuses are its own answers. Its logged bytes have heads in
    them, so it logs the length that the response announces. One thread, since of several that write a line to one file
    at the same moment some give up (fd_write_frag_line in src/fd.c), and lines are missing."""
    scratch.start(f"{instance.name}-upstream", [TOOLS / "server", str(instance.upstream)], instance.upstream)
    both = instance.place / "both.pem"
    both.write_bytes(instance.certificate.read_bytes() + instance.key.read_bytes())
    statuses = "".join(
        f"    http-request return status {code} content-type text/plain string status if {{ path /status/{code} }}\n"
        for code in STATUSES
    )
    option = "option httpclose" if instance.limit else "option http-keep-alive"
    file = instance.write("haproxy.cfg", HAPROXY, both=both, statuses=statuses, option=option)
    instance.logs.append(instance.start(scratch, [program("haproxy", "haproxy"), "-db", "-f", file], instance.plain))


CADDY = """\
{{
    admin off
    auto_https off
    servers {{
        protocols h1 h2 h2c
    }}
}}
(counts) {{
    bind {loopback}
    log {{
        output file {log}
        format json
    }}
    route {{
        respond /echo echo
        respond /status/404 "status 404" 404
        respond /status/500 "status 500" 500
        respond /status/204 204
        file_server {{
            root {content}
        }}
    }}
}}
http://:{plain} {{
    import counts
}}
https://:{tls} {{
    tls {certificate} {key}
    import counts
}}
"""


def caddy(scratch: Scratch, instance: Instance) -> None:
    """Without its administration and its own authority."""
    file = instance.write("Caddyfile", CADDY)
    command = [program("caddy", "caddy"), "run", "--adapter", "caddyfile", "--config", file]
    homes = {name: str(instance.place) for name in ("HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME")}
    instance.start(scratch, command, instance.plain, env=homes)
