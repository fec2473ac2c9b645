"""Apache (event) in front of nginx, to which it speaks TLS with a connection for each page.

    upstream.py ADDRESS PORT BITS

The certificate has an RSA key of so many bits, and no session of TLS is resumed.
"""

import subprocess
import sys

import together

MODULES = "mpm_event authz_core proxy proxy_http ssl socache_shmcb"

APACHE = """{modules}
User www-data
Group www-data
ServerName localhost
ServerRoot {place}
PidFile {place}/apache.pid
Mutex pthread
ErrorLog /dev/stderr
LogLevel crit
Listen {address}:{port}
ServerLimit 4
ThreadsPerChild 25
MaxRequestWorkers 100
SSLProxyEngine on
SSLProxyVerify none
SSLProxyCheckPeerName off
SSLProxyCheckPeerCN off
ProxyPass / https://127.0.0.1:{upstream}/ disablereuse=on
"""

NGINX = """daemon off;
error_log /dev/stderr crit;
pid {place}/nginx.pid;
worker_processes 1;
events {{ worker_connections 2048; }}
http {{
    access_log off;
    client_body_temp_path {place}/body;
    fastcgi_temp_path {place}/fastcgi;
    proxy_temp_path {place}/proxy;
    scgi_temp_path {place}/scgi;
    uwsgi_temp_path {place}/uwsgi;
    server {{
        listen 127.0.0.1:{upstream} ssl;
        ssl_certificate {place}/certificate.pem;
        ssl_certificate_key {place}/key.pem;
        ssl_session_cache off;
        ssl_session_tickets off;
        location / {{ return 200 "account\\n"; }}
    }}
}}
"""


def main():
    address, port, bits = sys.argv[1:]
    with together.Programs() as programs:
        place = programs.directory
        modules = "\n".join(
            f"LoadModule {name}_module /usr/lib/apache2/modules/mod_{name}.so" for name in MODULES.split()
        )
        values = {
            "place": place,
            "address": address,
            "port": port,
            "upstream": together.free_port(),
            "modules": modules,
        }
        (place / "apache.conf").write_text(APACHE.format(**values))
        (place / "nginx.conf").write_text(NGINX.format(**values))
        subprocess.run(
            f"openssl req -x509 -newkey rsa:{bits} -nodes -days 30 -subj /CN=localhost "
            "-keyout key.pem -out certificate.pem".split(),
            check=True,
            cwd=place,
            stderr=subprocess.DEVNULL,
        )
        programs.start("/usr/sbin/nginx", "-c", place / "nginx.conf", "-p", place)
        together.await_port(values["upstream"])
        programs.start("/usr/sbin/apache2", "-d", place, "-f", place / "apache.conf", "-D", "FOREGROUND")
        programs.wait()


if __name__ == "__main__":
    main()
