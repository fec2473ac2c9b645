"""Python with threads in front of PostgreSQL: postgres.py ADDRESS PORT QUERY CONNECTIONS MILLISECONDS

    counter    adds one to a counter that all pages share, in a transaction that goes on for so long
    report     a query that takes so long, whoever else asks

The pages share so many connections to it. What they need of the protocol is here.
"""

import argparse
import pathlib
import queue
import signal
import socket
import struct
import subprocess
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import together

BINARIES = pathlib.Path("/usr/lib/postgresql/15/bin")
AS_POSTGRES = ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups", "--pdeathsig=INT"]
SETTINGS = ["fsync=off", "synchronous_commit=off", "autovacuum=off", "max_connections=60", "shared_buffers=16MB"]
PROTOCOL = 3 << 16
QUERIES = {
    "counter": "BEGIN; UPDATE counters SET n = n + 1 WHERE name = 'visits'; SELECT pg_sleep({seconds}); COMMIT",
    "report": "SELECT pg_sleep({seconds})",
}


class Connection:
    """A connection to PostgreSQL in its protocol of messages, version 3.0, without a password."""

    def __init__(self, path):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.connect(str(path))
        self.stream = self.socket.makefile("rb")
        words = b"user\0postgres\0database\0postgres\0\0"
        self.socket.sendall(struct.pack("!2I", 8 + len(words), PROTOCOL) + words)
        self.until_ready()

    def until_ready(self):
        failed = None
        while True:
            kind, length = struct.unpack("!cI", self.stream.read(5))
            body = self.stream.read(length - 4)
            if kind == b"E":
                failed = body
            if kind == b"Z":
                break
        if failed:
            raise RuntimeError(failed.replace(b"\0", b" ").decode())

    def query(self, text):
        words = text.encode() + b"\0"
        self.socket.sendall(b"Q" + struct.pack("!I", 4 + len(words)) + words)
        self.until_ready()


class Site(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = -1

    def do_GET(self):
        connection = self.server.connections.get()
        try:
            connection.query(self.server.text)
        finally:
            self.server.connections.put(connection)
        body = b"counted\n"
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
        self.wfile.flush()

    def log_message(self, *args):
        pass


class Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 1024


def connected(path):
    end = time.monotonic() + 8
    while True:
        try:
            return Connection(path)
        except (OSError, struct.error, RuntimeError):
            if time.monotonic() > end:
                raise
            time.sleep(0.05)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("address")
    parser.add_argument("port", type=int)
    parser.add_argument("query", choices=QUERIES)
    parser.add_argument("connections", type=int)
    parser.add_argument("milliseconds", type=float)
    given = parser.parse_args()
    with together.Programs() as programs:
        place = programs.directory
        place.chmod(0o777)
        subprocess.run(
            [*AS_POSTGRES, BINARIES / "initdb", "-D", place / "data", "-U", "postgres", "-A", "trust", "--no-sync"],
            check=True,
            stdout=subprocess.DEVNULL,
        )
        settings = [word for setting in [*SETTINGS, f"unix_socket_directories={place}"] for word in ("-c", setting)]
        programs.start(*AS_POSTGRES, BINARIES / "postgres", "-D", place / "data", "-c", "listen_addresses=", *settings)
        first = connected(place / ".s.PGSQL.5432")
        first.query("CREATE TABLE counters (name text, n int); INSERT INTO counters VALUES ('visits', 0)")
        with Server((given.address, given.port), Site) as server:
            server.text = QUERIES[given.query].format(seconds=given.milliseconds / 1000)
            server.connections = queue.SimpleQueue()
            for _ in range(given.connections):
                server.connections.put(connected(place / ".s.PGSQL.5432"))
            try:
                server.serve_forever()
            finally:
                # SIGTERM would have it wait for its clients.
                programs.running[0].send_signal(signal.SIGINT)


if __name__ == "__main__":
    main()
