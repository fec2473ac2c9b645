"""Pages that wait for something, for gunicorn (`gunicorn waits:pages`).

/lock?hold=5ms      holds the process's one lock
/file-lock?hold=5ms holds a lock on a file, which all processes share
/sleep?for=20ms     waits
/pool               takes one of so many places ($POOL) and waits in it for what is behind ($BEHIND)
/write              writes a row, and sees that it is on the disk
/look-up            looks up a name that nobody has asked for yet, at $RESOLVER
/burn?cpu=5ms       burns processor time
"""

import fcntl
import http.client
import itertools
import os
import pathlib
import queue
import random
import socket
import sqlite3
import struct
import tempfile
import threading
import time
from urllib.parse import parse_qs

LOCK = threading.Lock()
PLACE = pathlib.Path(tempfile.gettempdir())
FILE = PLACE / f"headworks-causes-{os.getppid()}.lock"
ROWS = PLACE / f"headworks-causes-{os.getppid()}.sqlite"
LOCAL = threading.local()
POOL = queue.LifoQueue()
NUMBERS = itertools.count(random.randrange(1 << 30))
for _ in range(int(os.environ.get("POOL", "4"))):
    POOL.put(None)


def seconds(text):
    return float(text.removesuffix("ms")) / 1e3


def lock(hold):
    with LOCK:
        time.sleep(hold)


def file_lock(hold):
    with FILE.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        time.sleep(hold)


def pool():
    connection = POOL.get()
    try:
        if connection is None:
            host, port = os.environ["BEHIND"].split(":")
            connection = http.client.HTTPConnection(host, int(port))
        connection.request("GET", "/")
        connection.getresponse().read()
    finally:
        POOL.put(connection)


def write():
    if not hasattr(LOCAL, "rows"):
        LOCAL.rows = sqlite3.connect(ROWS, timeout=30, isolation_level=None)
        LOCAL.rows.execute("PRAGMA synchronous = FULL")
        LOCAL.rows.execute("CREATE TABLE IF NOT EXISTS orders (at REAL, what TEXT)")
    LOCAL.rows.execute("INSERT INTO orders VALUES (?, ?)", (time.time(), "x" * 200))


def look_up():
    """A question of DNS (RFC 1035), with a socket of its own as resolvers of libraries have."""
    name = b"".join(bytes([len(part)]) + part for part in [b"host-%d" % next(NUMBERS), b"example"])
    host = os.environ["RESOLVER"]
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asks:
        asks.connect((host, 53))
        asks.settimeout(5)
        asks.send(struct.pack("!HHHHHH", 7, 0x100, 1, 0, 0, 0) + name + b"\0" + struct.pack("!HH", 1, 1))
        asks.recv(512)


def burn(cpu):
    end = time.thread_time() + cpu
    while time.thread_time() < end:
        sum(range(200))


def pages(environ, start_response):
    given = {name: seconds(values[0]) for name, values in parse_qs(environ["QUERY_STRING"]).items()}
    path, status = environ["PATH_INFO"], "200 OK"
    if path == "/lock":
        lock(given["hold"])
    elif path == "/file-lock":
        file_lock(given["hold"])
    elif path == "/sleep":
        time.sleep(given["for"])
    elif path == "/pool":
        pool()
    elif path == "/write":
        write()
    elif path == "/look-up":
        look_up()
    elif path == "/burn":
        burn(given["cpu"])
    else:
        status = "404 Not Found"
    body = b"done\n"
    start_response(status, [("Content-Type", "text/plain"), ("Content-Length", str(len(body)))])
    return [body]
