"""The application as ASGI, for uvicorn and hypercorn; with WebSocket, trailers and early hints."""

import asyncio
import gzip
import hashlib
import os
from email.utils import formatdate
from pathlib import Path
from urllib.parse import parse_qs

HERE = Path(os.environ["WORLD_DIR"])
TEXT = (b"content-type", b"text/plain")
BINARY = (b"content-type", b"application/octet-stream")


async def app(scope, receive, send):
    """One request, or a WebSocket."""
    if scope["type"] == "lifespan":
        await lifespan(receive, send)
    elif scope["type"] == "websocket":
        await socket(receive, send)
    else:
        await Exchange(scope, receive, send).run()


async def lifespan(receive, send):
    while True:
        message = await receive()
        await send({"type": message["type"] + ".complete"})
        if message["type"] == "lifespan.shutdown":
            return


async def socket(receive, send):
    await receive()
    await send({"type": "websocket.accept"})
    while (message := await receive())["type"] == "websocket.receive":
        if message.get("text") == "close":
            await send({"type": "websocket.close", "code": 4001, "reason": "as asked"})
            return
        echoed = {key: message[key] for key in ("text", "bytes") if message.get(key) is not None}
        await send({"type": "websocket.send", **echoed})


class Exchange:
    """A request and its response."""

    def __init__(self, scope, receive, send):
        self.scope, self.receive, self.send = scope, receive, send
        self.path = scope["path"]
        self.query = {key: values[0] for key, values in parse_qs(scope["query_string"].decode("latin-1")).items()}

    async def run(self):
        name, _, rest = self.path.lstrip("/").partition("/")
        await getattr(self, f"on_{name}", self.on_echo)(rest)

    async def pieces(self):
        """The body as it comes."""
        while True:
            message = await self.receive()
            if message["type"] != "http.request":
                return
            if message.get("body"):
                yield message["body"]
            if not message.get("more_body"):
                return

    async def begin(self, status, headers, trailers=False):
        await self.send({"type": "http.response.start", "status": status, "headers": headers, "trailers": trailers})

    async def piece(self, body, more):
        await self.send({"type": "http.response.body", "body": body, "more_body": more})

    async def reply(self, body, *headers, status=200):
        await self.begin(status, [*headers, (b"content-length", str(len(body)).encode())])
        await self.piece(b"" if self.scope["method"] == "HEAD" else body, False)

    async def on_echo(self, rest):
        digest, total = hashlib.sha1(), 0
        async for piece in self.pieces():
            digest.update(piece)
            total += len(piece)
        target = self.scope["raw_path"] + (b"?" + self.scope["query_string"] if self.scope["query_string"] else b"")
        lines = [self.scope["method"].encode() + b" " + target]
        lines += sorted(name + b": " + value for name, value in self.scope["headers"])
        lines.append(f"body: {total} {digest.hexdigest()}".encode())
        await self.reply(b"\n".join(lines), TEXT)

    async def on_bytes(self, rest):
        await self.reply(b"x" * int(rest), BINARY)

    async def on_chunks(self, rest):
        await self.begin(200, [BINARY])
        for sent in range(0, int(rest), 50_000):
            await self.piece(b"x" * min(50_000, int(rest) - sent), True)
        await self.piece(b"", False)

    async def on_file(self, rest):
        headers = dict(self.scope["headers"])
        content = (HERE / "file.bin").read_bytes()
        about = [(b"etag", b'"world-1"'), (b"accept-ranges", b"bytes"), BINARY]
        about.append((b"last-modified", formatdate((HERE / "file.bin").stat().st_mtime, usegmt=True).encode()))
        if headers.get(b"if-none-match") == b'"world-1"':
            await self.begin(304, about)
            return await self.piece(b"", False)
        span = headers.get(b"range", b"")
        if not span.startswith(b"bytes=") or headers.get(b"if-range", b'"world-1"') != b'"world-1"':
            return await self.reply(content, *about)
        first, _, last = span[6:].partition(b"-")
        start = int(first) if first else len(content) - int(last)
        end = min(int(last) + 1 if first and last else len(content), len(content))
        if start >= len(content):
            unit = (b"content-range", b"bytes */%d" % len(content))
            return await self.reply(b"", unit, status=416)
        place = (b"content-range", b"bytes %d-%d/%d" % (start, end - 1, len(content)))
        return await self.reply(content[start:end], *about, place, status=206)

    async def on_gzip(self, rest):
        coded = [(b"content-encoding", b"gzip"), (b"vary", b"Accept-Encoding"), TEXT]
        await self.reply(gzip.compress(b"zipped " * 1000, mtime=0), *coded)

    async def on_redirect(self, rest):
        await self.reply(b"moved", (b"location", b"/echo?redirected"), TEXT, status=int(rest))

    async def on_cookies(self, rest):
        cookies = (b"a=1; Path=/", b"b=2; HttpOnly", b'c="d e"; Max-Age=60')
        await self.reply(b"cookies", *((b"set-cookie", cookie) for cookie in cookies), TEXT)

    async def on_status(self, rest):
        more = {"401": [(b"www-authenticate", b'Basic realm="world"')]}
        more |= {"429": [(b"retry-after", b"7")], "503": [(b"retry-after", b"7")]}
        if rest == "204":
            await self.begin(204, [])
            return await self.piece(b"", False)
        return await self.reply(f"status {rest}".encode(), TEXT, *more.get(rest, []), status=int(rest))

    async def on_fields(self, rest):
        many = [(b"x-many", str(count).encode()) for count in range(40)]
        name = (b"content-disposition", b'attachment; filename="\xdcber.csv"')
        await self.reply(b"fields", TEXT, name, (b"x-long", b"l" * 6000), *many)

    async def on_slow(self, rest):
        await asyncio.sleep(0.3)
        await self.reply(b"slow", TEXT)

    async def on_events(self, rest):
        await self.begin(200, [(b"content-type", b"text/event-stream"), (b"cache-control", b"no-cache")])
        for number in range(int(self.query["n"])):
            await self.piece(b"data: %d\n\n" % number, True)
            if not await wait_for(HERE / f"{self.query['id']}.{number}"):
                await self.piece(b"data: not acknowledged\n\n", True)
                break
        await self.piece(b"", False)

    async def on_upload(self, rest):
        total = 0
        async for piece in self.pieces():
            for number in range(total // 1000 + 1, (total + len(piece)) // 1000 + 1):
                (HERE / f"{self.query['id']}.{number * 1000}").touch()
            total += len(piece)
        await self.reply(f"got {total}".encode(), TEXT)

    async def on_early(self, rest):
        await self.reply(b"too much", TEXT, status=413)

    async def on_hints(self, rest):
        await self.send({"type": "http.response.early_hint", "links": [b"</a.css>; rel=preload; as=style"]})
        await self.reply(b"hints", TEXT)

    async def on_trailers(self, rest):
        await self.begin(200, [TEXT, (b"trailer", b"x-sum")], trailers=True)
        await self.piece(b"trailers", False)
        await self.send({"type": "http.response.trailers", "headers": [(b"x-sum", b"99")], "more_trailers": False})


async def wait_for(file):
    """Whether the client made this file, which it does when it has what was sent."""
    for _ in range(1000):
        if file.exists():
            return True
        await asyncio.sleep(0.005)
    return False
