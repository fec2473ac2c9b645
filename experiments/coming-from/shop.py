"""A shop to try load scripts on: python3 shop.py [PORT]. It forgets everything when it ends."""

import json
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

ITEMS = {number: {"id": number, "name": f"item {number}", "price": 5 * number} for number in range(1, 41)}
PAGE = 10


class Shop(BaseHTTPRequestHandler):
    """One connection."""

    protocol_version = "HTTP/1.1"
    # Head and body in one segment, where the other side would wait for more.
    wbufsize = -1
    disable_nagle_algorithm = True

    def do_GET(self):
        url = urlsplit(self.path)
        if url.path in ("/", "/style.css", "/logo.svg"):
            self.answer(200, {"shop": url.path})
        elif not self.headers.get("Authorization", "").startswith("Bearer token-of-"):
            self.answer(401, {"error": "log in first"})
        elif url.path == "/items":
            first = PAGE * (int(parse_qs(url.query).get("page", ["1"])[0]) - 1)
            self.answer(200, {"items": list(ITEMS.values())[first : first + PAGE]})
        elif url.path.startswith("/items/") and int(url.path[7:]) in ITEMS:
            self.answer(200, ITEMS[int(url.path[7:])])
        else:
            self.answer(404, {"error": "there is no such thing"})

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if self.path == "/login":
            user = json.loads(body)
            known = user.get("password") == f"secret of {user.get('user')}"
            self.answer(*((200, {"token": f"token-of-{user['user']}"}) if known else (403, {"error": "who?"})))
        elif self.path == "/orders":
            self.answer(201, {"order": json.loads(body)})
        else:
            self.answer(404, {"error": "there is no such thing"})

    def answer(self, status, content):
        body = json.dumps(content).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
        self.wfile.flush()

    def log_message(self, *_):
        pass


class Server(ThreadingHTTPServer):
    """Takes as many connections at once as a load test opens."""

    request_queue_size = 512

    def handle_error(self, *_):
        """A client that breaks off is none of the shop's business."""


if __name__ == "__main__":
    server = Server(("127.0.0.1", int(sys.argv[1]) if len(sys.argv) > 1 else 8080), Shop)
    print(server.server_address[1], flush=True)
    server.serve_forever()
