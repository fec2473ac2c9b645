"""Pages of a Python application of the WSGI kind. PAGE says which one it has; see the functions for their settings."""

import http.client
import mmap
import os
import queue
import random
import threading

import pymysql

SET = os.environ
OWN = threading.local()


def ask(milliseconds):
    """Asks the partner, over a connection that the thread keeps."""
    if not hasattr(OWN, "partner"):
        OWN.partner = http.client.HTTPConnection("127.0.0.1", int(SET["ASK"]))
    OWN.partner.request("GET", f"/{milliseconds}")
    return OWN.partner.getresponse().read()


def connect():
    return pymysql.connect(unix_socket=SET["DB"], user="root", database="shop")


def own_connection():
    if not hasattr(OWN, "database"):
        OWN.database = connect()
    return OWN.database


class Pool:
    """So many connections to the database, made when they are first needed."""

    def __init__(self, size):
        self.free = queue.LifoQueue()
        for _ in range(size):
            self.free.put(None)

    def query(self, text):
        connection = self.free.get() or connect()
        try:
            with connection.cursor() as cursor:
                cursor.execute(text)
                return cursor.fetchall()
        finally:
            self.free.put(connection)


POOL = Pool(int(SET.get("POOL", "0")))


def partner():
    """WAIT milliseconds for the partner, and SIZE bytes."""
    ask(SET["WAIT"])
    return b"x" * int(SET.get("SIZE", "100"))


def report():
    """A query that takes WAIT milliseconds, over one of POOL connections."""
    POOL.query(f"select sleep({float(SET['WAIT']) / 1000})")
    return b"report"


def booking():
    """Takes one of ROWS rows for itself, thinks for HOLD milliseconds, and changes the row."""
    connection = own_connection()
    row = random.randint(1, int(SET["ROWS"]))
    with connection.cursor() as cursor:
        cursor.execute("begin")
        cursor.execute("select pieces from stock where id = %s for update", (row,))
        cursor.execute(f"select sleep({float(SET['HOLD']) / 1000})")
        cursor.execute("update stock set pieces = pieces - 1 where id = %s", (row,))
    connection.commit()
    return b"booked"


def booking_and_report():
    booking()
    return report()


def photograph():
    """Reads SIZE bytes of a large file, past what is kept of it in memory."""
    if not hasattr(OWN, "file"):
        OWN.file = os.open(SET["FILE"], os.O_RDONLY | os.O_DIRECT)
        OWN.buffer = mmap.mmap(-1, int(SET["SIZE"]))
    pieces = os.fstat(OWN.file).st_size // len(OWN.buffer)
    os.preadv(OWN.file, [OWN.buffer], random.randrange(pieces) * len(OWN.buffer))
    return b"photograph"


def table():
    """A table of ROWS rows."""
    rows = [f"<tr><td>{row}</td><td>{row * 1.19:.2f}</td></tr>" for row in range(int(SET["ROWS"]))]
    return "".join(rows).encode()


PAGE = globals()[SET["PAGE"]]


def application(_environ, start):
    body = PAGE()
    headers = [("Content-Type", "text/html"), ("Content-Length", str(len(body)))]
    if "CLOSE" in SET:
        headers.append(("Connection", "close"))
    start("200 OK", headers)
    return [body]
