"""Pages for gunicorn (`gunicorn pages:NAME`), each of which needs something else.

Their settings are in the environment; MILLISECONDS is how long a page has what it needs.
"""

import os
import pathlib
import random
import socket
import sqlite3
import struct
import time

SPAN = float(os.environ.get("MILLISECONDS", "0")) / 1000
DIRECTORY = pathlib.Path(os.environ.get("DIRECTORY", "."))
RESOLVER = os.environ.get("RESOLVER", "")
COMMITS = int(os.environ.get("COMMITS", "1"))
QUESTION = struct.pack("!6H", 7, 0x100, 1, 0, 0, 0) + b"\x05users\x07example\x08internal\0" + struct.pack("!2H", 1, 1)

RECORD = 2 << 20

kept = {}
kept_buffer = bytearray(RECORD)


def page(work):
    def answer(_environ, start_response):
        body = work()
        start_response("200 OK", [("Content-Type", "text/plain"), ("Content-Length", str(len(body)))])
        return [body]

    return answer


def used(span):
    """Computes for that long, by the clock of the thread's own processor time."""
    end = time.thread_time() + span
    while time.thread_time() < end:
        sum(range(100))


@page
def report():
    used(SPAN)
    return b"report\n"


@page
def user():
    """Asks where the users' service is; a name is not kept, as with a TTL of 0."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as resolver:
        resolver.settimeout(5)
        resolver.connect((RESOLVER, 53))
        resolver.send(QUESTION)
        address = socket.inet_ntoa(resolver.recv(512)[-4:])
    return address.encode() + b"\n"


@page
def booking():
    """Has the only write lock of the database for a while."""
    database = kept.get("database")
    if database is None:
        database = kept["database"] = sqlite3.connect(DIRECTORY / "bookings", timeout=20, isolation_level=None)
        database.execute("PRAGMA synchronous = OFF")
    database.execute("BEGIN IMMEDIATE")
    database.execute("UPDATE seats SET taken = taken + 1")
    time.sleep(SPAN)
    database.execute("COMMIT")
    return b"booked\n"


@page
def order():
    """Commits each line of an order by itself, to the shard of this worker."""
    database = kept.get("shard")
    if database is None:
        database = kept["shard"] = sqlite3.connect(DIRECTORY / f"orders-{os.getpid()}", isolation_level=None)
        database.execute("CREATE TABLE lines (what TEXT)")
    for _ in range(COMMITS):
        database.execute("INSERT INTO lines VALUES ('bread')")
    return b"ordered\n"


@page
def remote():
    """Waits, as for a service far away."""
    time.sleep(SPAN)
    return b"from afar\n"


@page
def record():
    """Reads one of the records, any of which is as likely as any other."""
    records = kept.get("records")
    if records is None:
        records = kept["records"] = os.open(DIRECTORY / "records", os.O_RDONLY)
        os.posix_fadvise(records, 0, 0, os.POSIX_FADV_RANDOM)
        kept["count"] = os.fstat(records).st_size // RECORD
    read = os.preadv(records, [kept_buffer], random.randrange(kept["count"]) * RECORD)
    return b"%d bytes\n" % read
