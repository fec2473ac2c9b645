"""Configurations of the servers here, and tables of MariaDB. In braces is what run.py fills in."""

TABLES = """
create database shop;
use shop;
create table stock (id int primary key, pieces int) engine=innodb;
insert into stock select seq, 1000000 from seq_1_to_100;
"""

LIGHTTPD = {
    "all": """
server.document-root = "{place}/files"
server.bind = "{address}"
server.port = {port}
server.listen-backlog = 1024
server.errorlog = "/dev/null"
server.max-keep-alive-requests = 100000
index-file.names = ("index.html")
mimetype.assign = (".html" => "text/html")
""",
    "tls": """
server.modules += ("mod_openssl")
ssl.engine = "enable"
ssl.pemfile = "{place}/both.pem"
ssl.openssl.ssl-conf-cmd = ("Options" => "-SessionTicket")
""",
    "proxy": """
server.modules += ("mod_proxy")
server.max-fds = 4096
proxy.server = ("" => (("host" => "127.0.0.1", "port" => {back})))
""",
}

CADDY = {
    "proxy": """
{{
    admin off
    auto_https off
}}
:{port} {{
    bind {address}
    reverse_proxy 127.0.0.1:{back}
}}
""",
    "templates": """
{{
    admin off
    auto_https off
}}
:{port} {{
    bind {address}
    templates
    respond "{{{{range $i := until {rows}}}}}<li>{{{{sha256sum (toString $i)}}}}{{{{end}}}}"
    header Content-Type text/html
}}
""",
}

VARNISH = """
vcl 4.1;
backend back {{ .host = "127.0.0.1"; .port = "{back}"; }}
sub vcl_recv {{ return (pass); }}
"""
