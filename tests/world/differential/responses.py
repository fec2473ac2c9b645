"""What a server sends: right, odd, wrong. A case is the pieces of a response and what the client asked."""

from dataclasses import dataclass

from .recorder import CLOSE, RESET, SILENT, Pieces


@dataclass(frozen=True)
class Case:
    """`pieces` answer a request of `method` with the header lines `asks`."""

    pieces: Pieces
    method: str = "GET"
    asks: tuple[str, ...] = ()


def head(status: str, *lines: str, version: str = "1.1") -> bytes:
    """A head."""
    return (f"HTTP/{version} {status}\r\n" + "".join(f"{line}\r\n" for line in lines) + "\r\n").encode("latin-1")


def ok(*lines: str, status: str = "200 OK") -> Case:
    """A response of two bytes with these lines."""
    return Case([head(status, *lines, "Content-Length: 2") + b"ok"])


def chunks(text: str, *lines: str, asks: tuple[str, ...] = (), end: Pieces = ()) -> Case:
    """A response in chunks, written out."""
    return Case([head("200 OK", *lines, "Transfer-Encoding: chunked") + text.encode("latin-1"), *end], asks=asks)


def raw(text: str, *end: str, method: str = "GET", asks: tuple[str, ...] = ()) -> Case:
    """Exactly these bytes."""
    return Case([text.encode("latin-1"), *end], method, asks)


def only(*lines: str, end: Pieces = (), method: str = "GET", status: str = "200 OK") -> Case:
    """A head alone."""
    return Case([head(status, *lines), *end], method)


STATUSES = (
    "200 201 202 203 206 207 226 299 300 301 302 303 305 307 308 399 400 401 402 403 404 405 406 407 408 409 "
    "410 411 412 413 414 415 416 417 418 421 422 423 424 425 426 428 429 431 451 499 500 501 502 503 504 505 507 "
    "508 511 520 599"
).split()

STATUS = {f"status-{status}": ok(status=f"{status} Told") for status in STATUSES}

LINES = {
    "line-no-reason": ok(status="200"),
    "line-reason-empty": ok(status="200 "),
    "line-reason": ok(status="200 All is well"),
    "line-reason-latin": ok(status="200 \xdcber"),
    "line-reason-tab": ok(status="200 a\tb"),
    "line-reason-nul": ok(status="200 a\x00b"),
    "line-reason-5000": ok(status="200 " + "a" * 5000),
    "line-status-099": ok(status="099 Low"),
    "line-status-600": ok(status="600 High"),
    "line-status-999": ok(status="999 Higher"),
    "line-status-20": ok(status="20 Short"),
    "line-status-2000": ok(status="2000 Long"),
    "line-status-letters": ok(status="abc Letters"),
    "line-status-sign": ok(status="+20 Sign"),
    "line-two-spaces": ok(status=" 200 OK"),
    "line-version-1.2": Case([head("200 OK", "Content-Length: 2", version="1.2") + b"ok"]),
    "line-version-2.0": Case([head("200 OK", "Content-Length: 2", version="2.0") + b"ok"]),
    "line-version-0.9": Case([head("200 OK", "Content-Length: 2", version="0.9") + b"ok", CLOSE]),
    "line-version-lower": raw("http/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"),
    "line-icy": raw("ICY 200 OK\r\nContent-Length: 2\r\n\r\nok"),
    "line-none": raw("<p>no head</p>\r\n\r\n", CLOSE),
    "line-empty-first": raw("\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"),
    "line-feeds": raw("HTTP/1.1 200 OK\nContent-Length: 2\n\nok"),
    "line-feed-in-fields": raw("HTTP/1.1 200 OK\r\nX-A: 1\nContent-Length: 2\r\n\r\nok"),
    "line-feeds-to-upload": raw("HTTP/1.1 200 OK\nContent-Length: 2\n\nok", method="POST"),
    "line-return-alone": raw("HTTP/1.1 200 OK\r\nX-A: 1\rX-B: 2\r\nContent-Length: 2\r\n\r\nok"),
}

EARLY = head("103 Early Hints", "Link: </a.css>; rel=preload")
LAST = head("200 OK", "Content-Length: 2") + b"ok"

INTERIM = {
    "interim-100": Case([head("100 Continue"), LAST]),
    "interim-100-length": Case([head("100 Continue", "Content-Length: 10"), LAST]),
    "interim-102": Case([head("102 Processing"), head("102 Processing"), LAST]),
    "interim-103": Case([EARLY, LAST]),
    "interim-103-three": Case([EARLY, EARLY, EARLY, LAST]),
    "interim-103-same-piece": Case([EARLY + LAST]),
    "interim-103-to-old": Case([EARLY, LAST], asks=("HTTP/1.0",)),
    "interim-103-then-end": Case([EARLY, CLOSE]),
    "interim-103-fields": Case([head("103 Early Hints", "Connection: x-hop", "X-Hop: 1", "X-A: 2"), LAST]),
    "interim-104": Case([head("104 Upload Resumption Supported", "Upload-Offset: 3"), LAST]),
    "interim-199": Case([head("199 Last"), LAST]),
    "interim-many": Case([head("103 Early Hints") * 20, LAST]),
    "switch-unasked": only("Connection: Upgrade", "Upgrade: foo", status="101 Switching Protocols", end=[CLOSE]),
    "switch-other": Case(
        [head("101 Switching Protocols", "Connection: Upgrade", "Upgrade: foo"), CLOSE],
        asks=("Connection: Upgrade", "Upgrade: websocket"),
    ),
}

FRAMES = {
    "length-0": only("Content-Length: 0"),
    "length-spaced": raw("HTTP/1.1 200 OK\r\nContent-Length:   2  \r\n\r\nok"),
    "length-twice": raw("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 2\r\n\r\nok"),
    "length-list": raw("HTTP/1.1 200 OK\r\nContent-Length: 2, 2\r\n\r\nok"),
    "length-two": raw("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\noka"),
    "length-plus": raw("HTTP/1.1 200 OK\r\nContent-Length: +2\r\n\r\nok"),
    "length-minus": raw("HTTP/1.1 200 OK\r\nContent-Length: -2\r\n\r\nok"),
    "length-hex": raw("HTTP/1.1 200 OK\r\nContent-Length: 0x2\r\n\r\nok"),
    "length-zeros": raw("HTTP/1.1 200 OK\r\nContent-Length: 002\r\n\r\nok"),
    "length-empty": raw("HTTP/1.1 200 OK\r\nContent-Length:\r\n\r\n", CLOSE),
    "length-letters": raw("HTTP/1.1 200 OK\r\nContent-Length: two\r\n\r\nok", CLOSE),
    "length-overflow": raw("HTTP/1.1 200 OK\r\nContent-Length: 18446744073709551618\r\n\r\nok", CLOSE),
    "length-short": raw("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nok", CLOSE),
    "length-reset": raw("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nok", RESET),
    "length-long": raw(
        "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nokHTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nPOISON"
    ),
    "length-and-chunks": raw(
        "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n"
    ),
    "chunks-and-length": raw(
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Length: 99\r\n\r\n2\r\nok\r\n0\r\n\r\n"
    ),
    "end": raw("HTTP/1.1 200 OK\r\n\r\nok", CLOSE),
    "end-empty": raw("HTTP/1.1 200 OK\r\n\r\n", CLOSE),
    "end-reset": raw("HTTP/1.1 200 OK\r\n\r\nok", RESET),
    "old-end": raw("HTTP/1.0 200 OK\r\n\r\nok", CLOSE),
    "old-kept": raw("HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 2\r\n\r\nok"),
    "old-length": raw("HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok", CLOSE),
    "old-chunks": raw("HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n", CLOSE),
    "close-announced": raw("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok", CLOSE),
    "coding-gzip": raw("HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\nok", CLOSE),
    "coding-gzip-chunked": raw("HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n"),
    "coding-identity": raw("HTTP/1.1 200 OK\r\nTransfer-Encoding: identity\r\n\r\nok", CLOSE),
    "coding-identity-length": raw("HTTP/1.1 200 OK\r\nTransfer-Encoding: identity\r\nContent-Length: 2\r\n\r\nok"),
    "coding-capitals": raw("HTTP/1.1 200 OK\r\nTransfer-Encoding: Chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n"),
    "coding-list-twice": raw("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked, chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n"),
    "coding-two-lines": raw(
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n"
    ),
    "coding-unknown": raw("HTTP/1.1 200 OK\r\nTransfer-Encoding: xchunked\r\n\r\nok", CLOSE),
    "nothing": Case([CLOSE]),
    "nothing-reset": Case([RESET]),
    "half-a-head": raw("HTTP/1.1 200 OK\r\nContent-Le", CLOSE),
    "half-a-head-reset": raw("HTTP/1.1 200 OK\r\nContent-Le", RESET),
}

BODILESS = {
    "204": only(status="204 No Content"),
    "204-length-0": only("Content-Length: 0", status="204 No Content"),
    "204-length": only("Content-Length: 5", status="204 No Content"),
    "204-chunks": only("Transfer-Encoding: chunked", status="204 No Content"),
    "204-body": Case([head("204 No Content") + b"ok"]),
    "205-body": ok(status="205 Reset Content"),
    "205-length-0": only("Content-Length: 0", status="205 Reset Content"),
    "304": only('ETag: "a"', status="304 Not Modified"),
    "304-length": only('ETag: "a"', "Content-Length: 1234", status="304 Not Modified"),
    "304-chunks": only("Transfer-Encoding: chunked", status="304 Not Modified"),
    "304-body": Case([head("304 Not Modified") + b"ok"]),
    "head-length": only("Content-Length: 9757", method="HEAD"),
    "head-chunks": only("Transfer-Encoding: chunked", method="HEAD"),
    "head-both": only("Content-Length: 9757", "Transfer-Encoding: chunked", method="HEAD"),
    "head-none": only(method="HEAD"),
    "head-none-close": only("Connection: close", method="HEAD", end=[CLOSE]),
    "head-body": Case([head("200 OK", "Content-Length: 2") + b"ok"], "HEAD"),
    "head-404": only("Content-Length: 9", status="404 Not Found", method="HEAD"),
    "head-304-length": only("Content-Length: 9", status="304 Not Modified", method="HEAD"),
    "connect-no": Case([head("200 OK", "Content-Length: 2") + b"ok"], "OPTIONS"),
}

CHUNKS = {
    "chunks": chunks("1\r\no\r\n1\r\nk\r\n0\r\n\r\n"),
    "chunks-none": chunks("0\r\n\r\n"),
    "chunks-capitals": chunks("A\r\n0123456789\r\n0\r\n\r\n"),
    "chunks-zeros": chunks("0002\r\nok\r\n000\r\n\r\n"),
    "chunks-extension": chunks('2;a=b;c="d"\r\nok\r\n0;e\r\n\r\n'),
    "chunks-extension-5000": chunks("2;a=" + "b" * 5000 + "\r\nok\r\n0\r\n\r\n"),
    "chunks-space-after": chunks("2 \r\nok\r\n0\r\n\r\n"),
    "chunks-space-before": chunks(" 2\r\nok\r\n0\r\n\r\n", end=[CLOSE]),
    "chunks-line-feeds": chunks("2\nok\n0\n\n", end=[CLOSE]),
    "chunks-prefix": chunks("0x2\r\nok\r\n0\r\n\r\n", end=[CLOSE]),
    "chunks-negative": chunks("-2\r\nok\r\n0\r\n\r\n", end=[CLOSE]),
    "chunks-letters": chunks("two\r\nok\r\n0\r\n\r\n", end=[CLOSE]),
    "chunks-overflow": chunks("10000000000000002\r\nok\r\n0\r\n\r\n", end=[CLOSE]),
    "chunks-data-longer": chunks("2\r\noka\r\n0\r\n\r\n", end=[CLOSE]),
    "chunks-second-bad": chunks("2\r\nok\r\nbad\r\n0\r\n\r\n", end=[CLOSE]),
    "chunks-cut": chunks("2\r\nok\r\n", end=[CLOSE]),
    "chunks-cut-inside": chunks("9\r\nok", end=[CLOSE]),
    "chunks-cut-at-the-end": chunks("2\r\nok\r\n0\r\n", end=[CLOSE]),
    "chunks-old-client": chunks("2\r\nok\r\n0\r\n\r\n", asks=("HTTP/1.0",)),
    "trailers": chunks("2\r\nok\r\n0\r\nX-T: 1\r\n\r\n", "Trailer: X-T", asks=("TE: trailers", "Connection: TE")),
    "trailers-not-asked": chunks("2\r\nok\r\n0\r\nX-T: 1\r\n\r\n", "Trailer: X-T"),
    "trailers-not-announced": chunks("2\r\nok\r\n0\r\nX-T: 1\r\n\r\n", asks=("TE: trailers", "Connection: TE")),
    "trailers-length": chunks("2\r\nok\r\n0\r\nContent-Length: 9\r\n\r\n", asks=("TE: trailers", "Connection: TE")),
    "trailers-folded": chunks("2\r\nok\r\n0\r\nX-T: 1\r\n 2\r\n\r\n", asks=("TE: trailers", "Connection: TE")),
    "trailers-bad": chunks("2\r\nok\r\n0\r\nX-T\r\n\r\n", end=[CLOSE]),
}

FIELDS = {
    "field-folded": ok("X-A: 1", "\t2"),
    "field-folded-first": raw("HTTP/1.1 200 OK\r\n X-A: 1\r\nContent-Length: 2\r\n\r\nok"),
    "field-space-colon": ok("X-A : 1"),
    "field-no-colon": ok("X-A"),
    "field-nameless": ok(": 1"),
    "field-name-space": ok("X A: 1"),
    "field-name-latin": ok("X-\xfc: 1"),
    "field-name-odd": ok("!#$%&'*+-.^_`|~: 1"),
    "field-name-underscore": ok("X_A: 1"),
    "field-empty": ok("X-A:"),
    "field-spaces": ok("X-A: \t 1 \t "),
    "field-nul": ok("X-A: 1\x002"),
    "field-control": ok("X-A: 1\x012"),
    "field-delete": ok("X-A: 1\x7f2"),
    "field-tab": ok("X-A: 1\t2"),
    "field-latin": ok('Content-Disposition: attachment; filename="\xdcber.csv"'),
    "field-utf8": ok('Content-Disposition: attachment; filename="\xc3\x9cber.csv"'),
    "field-3000": ok("X-A: " + "a" * 3000),
    "field-12000": ok("X-A: " + "a" * 12000),
    "field-60000": ok("X-A: " + "a" * 60000),
    "fields-90": ok(*(f"X-{n}: {n}" for n in range(90))),
    "fields-150": ok(*(f"X-{n}: {n}" for n in range(150))),
    "fields-60-cookies": ok(*(f"Set-Cookie: c{n}=" + "a" * 1000 for n in range(60))),
    "field-twice": ok("X-A: 1", "X-B: 2", "X-A: 3"),
    "cookies": ok("Set-Cookie: a=1", "Set-Cookie: b=2; Path=/", 'Set-Cookie: c="d, e"'),
    "cookie-of-the-gate": ok("Set-Cookie: headworks=forged; Path=/"),
    "challenges": ok("WWW-Authenticate: Negotiate", "WWW-Authenticate: Basic realm=a", status="401 Unauthorized"),
    "hop-listed": ok("Connection: x-hop", "X-Hop: 1", "X-End: 2"),
    "hop-length-listed": ok("Connection: content-length"),
    "hop-cookie-listed": ok("Connection: set-cookie", "Set-Cookie: a=1"),
    "hop-keep-alive": ok("Connection: keep-alive", "Keep-Alive: timeout=5, max=9"),
    "hop-proxy-authenticate": ok("Proxy-Authenticate: Basic"),
    "hop-proxy-connection": ok("Proxy-Connection: keep-alive"),
    "hop-upgrade": ok("Upgrade: h2,h2c"),
    "hop-upgrade-426": ok("Connection: Upgrade", "Upgrade: foo", status="426 Upgrade Required"),
    "hop-te": ok("TE: trailers"),
    "hop-trailer": ok("Trailer: X-T"),
    "via": ok("Via: 1.1 other"),
    "date": ok("Date: Sat, 01 Jan 2000 00:00:00 GMT"),
    "date-twice": ok("Date: Sat, 01 Jan 2000 00:00:00 GMT", "Date: Sun, 02 Jan 2000 00:00:00 GMT"),
    "date-none": ok(),
    "server": ok("Server: site/1"),
    "age": ok("Age: 5", "Cache-Control: public, max-age=60", 'ETag: W/"a"', "Vary: Accept", "Expires: 0"),
    "location": ok("Location: /other?a=b#c", status="302 Found"),
    "location-of-the-server": ok("Location: http://127.0.0.1/other", status="302 Found"),
    "refresh": ok("Refresh: 0; url=/other"),
    "content-coding": ok("Content-Encoding: gzip"),
    "content-type-twice": ok("Content-Type: text/plain", "Content-Type: text/html"),
    "content-type-none": ok(),
    "range": ok("Content-Range: bytes 0-1/10", status="206 Partial Content"),
    "accelerated": ok("X-Accel-Redirect: /other"),
    "accelerated-buffering": ok("X-Accel-Buffering: no", "X-Accel-Expires: 5", "X-Accel-Charset: utf-8"),
    "class-of-the-gate": ok("Headworks-Class: basic"),
    "class-unknown": ok("Headworks-Class: unknown"),
    "status-field": ok("Status: 404 Not Found"),
    "services": ok('Alt-Svc: h3=":443"', "Strict-Transport-Security: max-age=1"),
}

LARGE = {
    "large-length": Case([head("200 OK", "Content-Length: 300000") + b"a" * 300_000]),
    "large-chunks": Case(
        [head("200 OK", "Transfer-Encoding: chunked") + b"493e0\r\n" + b"a" * 300_000 + b"\r\n0\r\n\r\n"]
    ),
    "large-end": Case([head("200 OK") + b"a" * 300_000, CLOSE]),
    "large-cut": Case([head("200 OK", "Content-Length: 400000") + b"a" * 300_000, CLOSE]),
    "silent": Case([SILENT]),
    "silent-in-the-body": Case([head("200 OK", "Content-Length: 9") + b"ok", SILENT]),
}

RESPONSES: dict[str, Case] = {
    name: case
    for group in (STATUS, LINES, INTERIM, FRAMES, BODILESS, CHUNKS, FIELDS, LARGE)
    for name, case in group.items()
}
