"""nginx that lets so many requests a second through, and refuses others with 503: limited.py ADDRESS PORT RATE BURST

Of those beyond the rate BURST wait.
"""

import sys

import together

NGINX = """daemon off;
error_log /dev/stderr crit;
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
    limit_req_zone $host zone=all:1m rate={rate}r/s;
    server {{
        listen {address}:{port} backlog=511;
        root {place}/files;
        limit_req zone=all burst={burst};
    }}
}}
"""


def main():
    address, port, rate, burst = sys.argv[1:]
    with together.Programs() as programs:
        place = programs.directory
        (place / "files").mkdir()
        (place / "files/index.html").write_text("welcome\n" * 100)
        values = {"place": place, "address": address, "port": port, "rate": rate, "burst": burst}
        (place / "nginx.conf").write_text(NGINX.format(**values))
        programs.start("/usr/sbin/nginx", "-c", place / "nginx.conf", "-p", place)
        programs.wait()


if __name__ == "__main__":
    main()
