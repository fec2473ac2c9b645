"""The application in Flask, for gunicorn."""

import gzip
import hashlib
import os
import time
from pathlib import Path

from flask import Flask, Response, request, send_file

HERE = Path(os.environ["WORLD_DIR"])
METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "PROPFIND"]

app = Flask(__name__)
app.url_map.merge_slashes = False


def route(path):
    """A route for every method."""
    return app.route(path, methods=METHODS, provide_automatic_options=False)


@route("/")
@route("/echo")
@route("/echo/<path:rest>")
def echo(rest=""):
    body = request.stream.read()
    lines = [f"{request.method} {request.environ.get('RAW_URI', '')}"]
    lines += sorted(f"{name.lower()}: {value}" for name, value in request.headers)
    lines.append(f"body: {len(body)} {hashlib.sha1(body).hexdigest()}")
    return Response("\n".join(lines).encode("latin-1", "replace"), content_type="text/plain")


@route("/bytes/<int:count>")
def plain(count):
    return Response(b"x" * count, content_type="application/octet-stream")


@route("/chunks/<int:count>")
def chunks(count):
    pieces = (b"x" * min(50_000, count - sent) for sent in range(0, count, 50_000))
    return Response(pieces, content_type="application/octet-stream")


@route("/file")
def file():
    return send_file(HERE / "file.bin", mimetype="application/octet-stream", conditional=True, etag="world-1")


@route("/gzip")
def zipped():
    headers = {"Content-Encoding": "gzip", "Vary": "Accept-Encoding", "Content-Type": "text/plain"}
    return Response(gzip.compress(b"zipped " * 1000, mtime=0), headers=headers)


@route("/redirect/<int:code>")
def redirect(code):
    return Response("moved", code, {"Location": "/echo?redirected"}, content_type="text/plain")


@route("/cookies")
def cookies():
    response = Response("cookies", content_type="text/plain")
    for cookie in ("a=1; Path=/", "b=2; HttpOnly", 'c="d e"; Max-Age=60'):
        response.headers.add("Set-Cookie", cookie)
    return response


@route("/status/<int:code>")
def status(code):
    response = Response("" if code == 204 else f"status {code}", code, content_type="text/plain")
    if code == 401:
        response.headers["WWW-Authenticate"] = 'Basic realm="world"'
    if code in (429, 503):
        response.headers["Retry-After"] = "7"
    return response


@route("/reason")
def reason():
    return Response("reason", "299 All is well", content_type="text/plain")


@route("/fields")
def fields():
    response = Response("fields", content_type="text/plain")
    response.headers["Content-Disposition"] = 'attachment; filename="\xdcber.csv"'
    response.headers["X-Long"] = "l" * 6000
    for count in range(40):
        response.headers.add("X-Many", str(count))
    return response


@route("/slow")
def slow():
    time.sleep(0.3)
    return Response("slow", content_type="text/plain")


@route("/early")
def early():
    return Response("too much", 413, content_type="text/plain")


@route("/events")
def events():
    mark = HERE / request.args["id"]

    count = int(request.args["n"])

    def told():
        for number in range(count):
            yield f"data: {number}\n\n"
            if not wait_for(Path(f"{mark}.{number}")):
                yield "data: not acknowledged\n\n"
                return

    return Response(told(), content_type="text/event-stream", headers={"Cache-Control": "no-cache"})


@route("/upload")
def upload():
    mark, total = HERE / request.args["id"], 0
    while piece := request.stream.read(1000):
        for number in range(total // 1000 + 1, (total + len(piece)) // 1000 + 1):
            Path(f"{mark}.{number * 1000}").touch()
        total += len(piece)
    return Response(f"got {total}", content_type="text/plain")


def wait_for(file):
    """Whether the client made this file, which it does when it has what was sent."""
    end = time.monotonic() + 5
    while not file.exists() and time.monotonic() < end:
        time.sleep(0.005)
    return file.exists()
