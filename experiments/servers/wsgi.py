"""Pages for gunicorn (`gunicorn wsgi:site`): /burn?cpu=20ms burns processor time, /bytes/N is N bytes."""

import time
from urllib.parse import parse_qs

MILLISECONDS = "ms"


def site(environ, start_response):
    path, body, status = environ["PATH_INFO"], b"burnt\n", "200 OK"
    if path == "/burn":
        given = parse_qs(environ["QUERY_STRING"])["cpu"][0]
        end = time.thread_time() + float(given.removesuffix(MILLISECONDS)) / 1000
        while time.thread_time() < end:
            sum(range(200))
    elif path.startswith("/bytes/"):
        body = b"x" * int(path.rpartition("/")[2])
    else:
        body, status = b"nothing\n", "404 Not Found"
    start_response(status, [("Content-Type", "text/plain"), ("Content-Length", str(len(body)))])
    return [body]
