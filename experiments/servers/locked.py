"""A server whose pages hold one lock, for as long as they are asked to burn, and need hardly any of the processor.

    locked.py ADDRESS PORT [--threads N] [--backlog N] [--slow FROM TO TIMES]

A thread serves one connection, for as long as that is open. With --slow, pages take so many times as
long between these seconds after its start.
"""

import argparse
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

LOCK = threading.Lock()
MILLISECONDS = "ms"


class Site(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = -1

    def do_GET(self):
        url = urlsplit(self.path)
        body = b"done"
        if url.path == "/burn":
            seconds = float(parse_qs(url.query)["cpu"][0].removesuffix(MILLISECONDS)) / 1000
            with LOCK:
                time.sleep(seconds * self.server.slowness())
        elif url.path.startswith("/bytes/"):
            body = b"x" * int(url.path.rpartition("/")[2])
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
        self.wfile.flush()

    def log_message(self, *args):
        pass


class Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, address, threads, backlog, slow):
        self.request_queue_size = backlog
        super().__init__(address, Site)
        self.threads = threading.Semaphore(threads)
        self.slow = slow
        self.began = time.monotonic()

    def process_request(self, request, client_address):
        self.threads.acquire()
        super().process_request(request, client_address)

    def process_request_thread(self, request, client_address):
        try:
            super().process_request_thread(request, client_address)
        finally:
            self.threads.release()

    def slowness(self):
        begins, ends, times = self.slow
        return times if begins <= time.monotonic() - self.began < ends else 1


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("address")
    parser.add_argument("port", type=int)
    parser.add_argument("--threads", type=int, default=150)
    parser.add_argument("--backlog", type=int, default=1024)
    parser.add_argument("--slow", nargs=3, type=float, default=(0, 0, 1), metavar=("FROM", "TO", "TIMES"))
    given = parser.parse_args()
    Server((given.address, given.port), given.threads, given.backlog, given.slow).serve_forever()


if __name__ == "__main__":
    main()
