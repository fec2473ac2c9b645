"""Configurations of nginx, HAProxy, Apache and PHP-FPM that stack.py fills in."""

FPM = """[global]
error_log = /dev/stderr
[www]
user = www-data
group = www-data
listen = {place}/fpm.sock
listen.mode = 0666
listen.backlog = 1024
pm = static
pm.max_children = {children}
clear_env = no
"""

NGINX = """daemon off;
error_log /dev/stderr crit;
pid {place}/nginx.pid;
worker_processes 1;
worker_rlimit_nofile @descriptors;
events {{ worker_connections @limit; }}
http {{
    access_log off;
    client_body_temp_path {place}/t1;
    fastcgi_temp_path {place}/t2;
    proxy_temp_path {place}/t3;
    scgi_temp_path {place}/t4;
    uwsgi_temp_path {place}/t5;
    @site
}}
"""

SITES = {
    "php": """server {{
        listen {address}:{port} backlog=1024;
        location / {{
            fastcgi_pass unix:{place}/fpm.sock;
            fastcgi_param SCRIPT_FILENAME {place}/page.php;
            fastcgi_param REQUEST_METHOD $request_method;
            fastcgi_param QUERY_STRING $query_string;
        }}
    }}""",
    "proxy": """upstream back {{ server 127.0.0.1:{back}; keepalive 64; }}
    server {{
        listen {address}:{port} backlog=1024;
        location / {{
            proxy_pass http://back;
            proxy_http_version 1.1;
            proxy_set_header Connection "";
        }}
    }}""",
    "plain-proxy": """server {{
        listen {address}:{port} backlog=1024;
        location / {{ proxy_pass http://127.0.0.1:{back}; }}
    }}""",
    "tls": """server {{
        listen {address}:{port} ssl backlog=1024;
        ssl_certificate {place}/crt.pem;
        ssl_certificate_key {place}/key.pem;
        ssl_session_cache off;
        ssl_session_tickets off;
        location / {{ return 200 "balance\\n"; }}
    }}""",
    "cgi": """ScriptAlias / {place}/page.sh/
<Directory {place}>
    Require all granted
</Directory>""",
    "apache": "ProxyPass / http://127.0.0.1:{back}/",
}

HAPROXY = """global
    maxconn 4000
    nbthread 1
defaults
    mode http
    timeout connect 5s
    timeout client 30s
    timeout server 30s
    timeout queue 30s
frontend site
    bind {address}:{port} @tls
@front    default_backend back
backend back
@behind    server one 127.0.0.1:{back}
"""

MPM = {
    "prefork": """StartServers {workers}
MinSpareServers 1
MaxSpareServers {workers}
ServerLimit {workers}
MaxRequestWorkers {workers}""",
    "event": """StartServers 1
ServerLimit 1
ThreadLimit {workers}
ThreadsPerChild {workers}
MaxRequestWorkers {workers}
AsyncRequestWorkerFactor 20""",
}

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
ListenBacklog 1024
KeepAlive On
KeepAliveTimeout 5
MaxKeepAliveRequests 0
@mpm
@site
"""
