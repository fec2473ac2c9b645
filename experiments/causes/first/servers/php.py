"""PHP-FPM behind nginx: php.py ADDRESS PORT PAGE CHILDREN MILLISECONDS

query      asks a database, which answers after so long, over a connection that is opened for each page
session    works so long while it has the session, which all users share
"""

import argparse
import pathlib

import together

PAGES = {
    "query": """<?php
$database = @stream_socket_client('tcp://127.0.0.1:{database}', $code, $message, 5);
if (!$database) {{
    http_response_code(502);
    exit("$message\\n");
}}
fwrite($database, "price\\n");
echo fgets($database);
fclose($database);
""",
    "session": """<?php
session_save_path('{directory}');
session_id('kiosk');
session_start();
$_SESSION['seen'] = ($_SESSION['seen'] ?? 0) + 1;
usleep({milliseconds} * 1000);
echo "seen {{$_SESSION['seen']}}\\n";
""",
}

FPM = """[global]
error_log = /dev/stderr
[www]
user = www-data
group = www-data
listen = {directory}/fpm.sock
listen.mode = 0666
listen.backlog = 1024
pm = static
pm.max_children = {children}
"""

NGINX = """daemon off;
error_log /dev/stderr crit;
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
        listen {address}:{port} backlog=511;
        location / {{
            fastcgi_pass unix:{directory}/fpm.sock;
            fastcgi_param SCRIPT_FILENAME {directory}/page.php;
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
    parser.add_argument("page", choices=PAGES)
    parser.add_argument("children", type=int)
    parser.add_argument("milliseconds", type=int)
    given = parser.parse_args()
    fpm = sorted(pathlib.Path("/usr/sbin").glob("php-fpm*"))[-1]
    with together.Programs() as programs:
        place = programs.directory
        place.chmod(0o777)
        values = dict(vars(given), directory=place, database=together.free_port())
        (place / "page.php").write_text(PAGES[given.page].format(**values))
        (place / "fpm.conf").write_text(FPM.format(**values))
        (place / "nginx.conf").write_text(NGINX.format(**values))
        if given.page == "query":
            programs.python("database.py", values["database"], "--after", given.milliseconds / 1000)
            together.await_port(values["database"])
        programs.start(fpm, "-F", "-y", place / "fpm.conf")
        together.await_path(place / "fpm.sock")
        programs.start("/usr/sbin/nginx", "-c", place / "nginx.conf", "-p", place)
        programs.wait()


if __name__ == "__main__":
    main()
