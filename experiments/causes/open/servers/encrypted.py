"""nginx with a certificate of a large key.

encrypted.py ADDRESS PORT
"""

import os
import pathlib
import signal
import subprocess
import sys
import tempfile

NGINX = """daemon off;
error_log /dev/stderr warn;
pid {place}/nginx.pid;
worker_processes 1;
events {{ worker_connections 4096; }}
http {{
    access_log off;
    client_body_temp_path {place}/body;
    fastcgi_temp_path {place}/fastcgi;
    proxy_temp_path {place}/proxy;
    scgi_temp_path {place}/scgi;
    uwsgi_temp_path {place}/uwsgi;
    server {{
        listen {address}:{port} ssl backlog=511;
        ssl_certificate {place}/certificate.pem;
        ssl_certificate_key {place}/key.pem;
        location / {{ return 200 "done"; }}
    }}
}}
"""


def main():
    address, port = sys.argv[1:]
    with tempfile.TemporaryDirectory(prefix="headworks-encrypted-") as place:
        made = ["openssl", "req", "-x509", "-newkey", "rsa:4096", "-nodes", "-days", "2", "-subj", "/CN=here"]
        made += ["-keyout", f"{place}/key.pem", "-out", f"{place}/certificate.pem"]
        subprocess.run(made, check=True, stderr=subprocess.DEVNULL)
        file = pathlib.Path(place) / "nginx.conf"
        file.write_text(NGINX.format(place=place, address=address, port=port))
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
        server = subprocess.Popen(["/usr/sbin/nginx", "-c", str(file), "-p", place], stdin=subprocess.DEVNULL)
        try:
            os.waitid(os.P_PID, server.pid, os.WEXITED | os.WNOWAIT)
        finally:
            server.terminate()
            server.wait()


main()
