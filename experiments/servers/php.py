"""nginx in front of PHP-FPM: files by nginx, and a page that burns processor time in PHP.

    php.py ADDRESS PORT FILES [--children N] [--backlog N]

Both run in a directory of their own, which is removed when they end. Needs Debian's nginx-light and php-fpm.
"""

import argparse
import pathlib
import signal
import subprocess
import sys
import tempfile

BURN = """<?php
function used() {
    $usage = getrusage();
    return 1e3 * ($usage['ru_utime.tv_sec'] + $usage['ru_stime.tv_sec'])
        + 1e-3 * ($usage['ru_utime.tv_usec'] + $usage['ru_stime.tv_usec']);
}
$end = used() + floatval($_GET['cpu']);
while (used() < $end) {
    for ($i = 0; $i < 2000; $i++) { }
}
echo "burnt\\n";
"""

FPM = """[global]
error_log = /dev/stderr
[www]
user = www-data
group = www-data
listen = {directory}/fpm.sock
listen.mode = 0666
listen.backlog = {backlog}
pm = static
pm.max_children = {children}
"""

NGINX = """daemon off;
error_log /dev/stderr warn;
pid {directory}/nginx.pid;
worker_processes 1;
events {{ worker_connections 4096; }}
http {{
    access_log off;
    client_body_temp_path {directory}/body;
    fastcgi_temp_path {directory}/fastcgi;
    proxy_temp_path {directory}/proxy;
    scgi_temp_path {directory}/scgi;
    uwsgi_temp_path {directory}/uwsgi;
    server {{
        listen {address}:{port} backlog={backlog};
        root {files};
        location = /burn {{
            fastcgi_pass unix:{directory}/fpm.sock;
            fastcgi_param SCRIPT_FILENAME {directory}/burn.php;
            fastcgi_param REQUEST_METHOD $request_method;
            fastcgi_param QUERY_STRING $query_string;
        }}
    }}
}}
"""


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("address")
    parser.add_argument("port", type=int)
    parser.add_argument("files")
    parser.add_argument("--children", type=int, default=8)
    parser.add_argument("--backlog", type=int, default=511)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="headworks-php-") as directory:
        place = pathlib.Path(directory)
        place.chmod(0o755)
        values = dict(vars(given), directory=directory)
        (place / "burn.php").write_text(BURN)
        (place / "fpm.conf").write_text(FPM.format(**values))
        (place / "nginx.conf").write_text(NGINX.format(**values))
        fpm = sorted(pathlib.Path("/usr/sbin").glob("php-fpm*"))
        if not fpm:
            sys.exit("php-fpm is not installed; apt-get install php-fpm")
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
        programs = []
        try:
            for words in [
                [str(fpm[-1]), "-F", "-y", str(place / "fpm.conf")],
                ["/usr/sbin/nginx", "-c", str(place / "nginx.conf"), "-p", directory],
            ]:
                programs.append(subprocess.Popen(words, stdin=subprocess.DEVNULL))
            while all(program.poll() is None for program in programs):
                signal.sigtimedwait([], 0.1)
        finally:
            for program in programs:
                program.terminate()
            for program in programs:
                program.wait()


if __name__ == "__main__":
    main()
