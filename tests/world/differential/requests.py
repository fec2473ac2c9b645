"""Requests beside those of the corpus: what is odd and legal, what proxies treat each in their own way."""

AFTER = b"GET /after HTTP/1.1\r\nHost: test\r\nConnection: close\r\n\r\n"
"""Sent behind each: it shows where a proxy thinks that the request ended."""


def get(target: str = "/", *lines: str, method: str = "GET", version: str = "1.1", host: str = "test") -> bytes:
    """A request without a body."""
    host_line = f"Host: {host}\r\n" if host else ""
    head = f"{method} {target} HTTP/{version}\r\n{host_line}" + "".join(f"{line}\r\n" for line in lines)
    return (head + "\r\n").encode("latin-1")


def post(body: str, *lines: str, method: str = "POST") -> bytes:
    """A request whose body has a length."""
    return get("/", *lines, f"Content-Length: {len(body)}", method=method) + body.encode("latin-1")


def chunked(chunks: str, *lines: str) -> bytes:
    """A request whose body is in chunks, written out."""
    return get("/", *lines, "Transfer-Encoding: chunked", method="POST") + chunks.encode("latin-1")


METHODS = {
    "method-put": post("ab", method="PUT"),
    "method-patch": post("ab", method="PATCH"),
    "method-delete": get(method="DELETE"),
    "method-delete-body": post("ab", method="DELETE"),
    "method-options": get(method="OPTIONS"),
    "method-options-star": get("*", method="OPTIONS"),
    "method-propfind": post("<a/>", "Depth: 1", method="PROPFIND"),
    "method-hyphen": get(method="M-SEARCH"),
    "method-lower": get(method="get"),
    "method-purge": get(method="PURGE"),
    "method-pri": get("*", method="PRI"),
    "method-query": post("a=b", method="QUERY"),
    "method-letters-31": get(method="A" * 31),
    "method-trace": get("/", "X-A: 1", "Cookie: a=b", method="TRACE"),
    "method-trace-body": post("ab", method="TRACE"),
    "method-trace-last-hop": get("/", "Max-Forwards: 0", method="TRACE"),
    "method-head": get(method="HEAD"),
    "method-head-body": post("ab", method="HEAD"),
    "method-get-body": post("ab", method="GET"),
    "method-get-chunks": get("/", "Transfer-Encoding: chunked") + b"2\r\nab\r\n0\r\n\r\n",
}

TARGETS = {
    "target-space-encoded": get("/a%20b"),
    "target-percent-alone": get("/a%"),
    "target-percent-letters": get("/a%zz"),
    "target-nul-encoded": get("/a%00b"),
    "target-line-encoded": get("/a?x=%0d%0aX-B:%201"),
    "target-slash-encoded": get("/a%2Fb%5cc"),
    "target-needlessly-encoded": get("/%61%7E"),
    "target-dots": get("/a/./b/../c"),
    "target-dots-up": get("/../../x"),
    "target-dots-encoded": get("/a/%2e%2e/b"),
    "target-slashes": get("//a///b/"),
    "target-parameters": get("/a;b=c;d"),
    "target-question-alone": get("/?"),
    "target-questions": get("/a?b?c"),
    "target-pipe": get("/a|b?c|d"),
    "target-quote": get('/a"b'),
    "target-angles": get("/a<b>"),
    "target-braces": get("/a{b}"),
    "target-brackets": get("/a?b[c]=d"),
    "target-caret": get("/a^`b"),
    "target-apostrophe": get("/a'b(c)!*"),
    "target-query-backslash": get("/a?b\\c"),
    "target-tab": get("/a\tb"),
    "target-6000": get("/" + "a" * 5999),
    "target-query-only": get("?x=1"),
    "target-absolute-no-path": get("http://test"),
    "target-absolute-query": get("http://test?x=1"),
    "target-absolute-capitals": get("HTTP://TEST/a"),
    "target-absolute-https": get("https://test/a"),
    "target-absolute-ftp": get("ftp://test/a"),
    "target-absolute-without-host": get("http://test/a", host=""),
    "target-authority": get("test:80"),
}

HOSTS = {
    "host-port-80": get(host="test:80"),
    "host-port-empty": get(host="test:"),
    "host-capitals": get(host="TEST"),
    "host-dot-last": get(host="test."),
    "host-underscore": get(host="a_b"),
    "host-address": get(host="192.0.2.1:8080"),
    "host-percent": get(host="a%20b"),
    "host-spaces-around": get("/", "Host:   test  ", host=""),
    "host-name-capitals": get("/", "HOST: test", host=""),
    "host-not-first": get("/", "X-A: 1", "Host: test", host=""),
    "host-wide": get(host="a" * 300),
}

VERSIONS = {
    "old": get(version="1.0", host=""),
    "old-host": get(version="1.0"),
    "old-kept": get("/", "Connection: keep-alive", version="1.0"),
    "old-length": get("/", "Content-Length: 2", version="1.0", method="POST") + b"ab",
    "old-expect": get("/", "Content-Length: 2", "Expect: 100-continue", version="1.0", method="POST") + b"ab",
    "new-kept": get("/", "Connection: keep-alive"),
}

HOPS = {
    "hop-listed": get("/", "Connection: x-hop", "X-Hop: 1", "X-End: 2"),
    "hop-two-lines": get("/", "Connection: x-hop", "Connection: x-too", "X-Hop: 1", "X-Too: 2"),
    "hop-comma-alone": get("/", "Connection: ,"),
    "hop-quoted": get("/", 'Connection: "x-hop"', "X-Hop: 1"),
    "hop-not-there": get("/", "Connection: x-hop"),
    "hop-length": post("ab", "Connection: content-length"),
    "hop-coding": chunked("2\r\nab\r\n0\r\n\r\n", "Connection: transfer-encoding"),
    "hop-keep-alive": get("/", "Keep-Alive: timeout=5"),
    "hop-proxy-connection": get("/", "Proxy-Connection: keep-alive"),
    "hop-proxy-authorization": get("/", "Proxy-Authorization: Basic YTpi"),
    "hop-te-trailers": get("/", "TE: trailers", "Connection: TE"),
    "hop-te-alone": get("/", "TE: trailers"),
    "hop-te-gzip": get("/", "TE: gzip", "Connection: TE"),
    "hop-upgrade-unknown": get("/", "Connection: Upgrade", "Upgrade: foo/2"),
    "hop-upgrade-h2c": get("/", "Connection: Upgrade, HTTP2-Settings", "Upgrade: h2c", "HTTP2-Settings: AAMAAABk"),
    "hop-upgrade-not-listed": get("/", "Upgrade: websocket"),
    "hop-upgrade-websocket-refused": get("/", "Connection: Upgrade", "Upgrade: websocket"),
}

EXPECTATIONS = {
    "expect-body": post("ab", "Expect: 100-continue"),
    "expect-capitals": post("ab", "Expect: 100-Continue"),
    "expect-without-body": get("/", "Expect: 100-continue"),
    "expect-list": post("ab", "Expect: 100-continue, x"),
    "expect-chunks": chunked("2\r\nab\r\n0\r\n\r\n", "Expect: 100-continue"),
    "forwards-get": get("/", "Max-Forwards: 5"),
    "forwards-options": get("/", "Max-Forwards: 5", method="OPTIONS"),
    "forwards-options-last-hop": get("/", "Max-Forwards: 0", method="OPTIONS"),
    "forwards-options-letters": get("/", "Max-Forwards: x", method="OPTIONS"),
}

FIELDS = {
    "field-empty": get("/", "X-A:"),
    "field-spaces": get("/", "X-A: \t 1 \t "),
    "field-no-space": get("/", "X-A:1"),
    "field-tab-inside": get("/", "X-A: 1\t2"),
    "field-name-odd": get("/", "!#$%&'*+-.^`|~: 1"),
    "field-name-digit": get("/", "1: 1"),
    "field-name-dot": get("/", "X.A: 1"),
    "field-twice": get("/", "X-A: 1", "X-B: 2", "X-A: 3"),
    "field-utf8": get("/", "X-A: \xc3\xbc"),
    "field-quoted": get("/", 'X-A: "a, b"'),
    "field-8000": get("/", "X-A: " + "a" * 8000),
    "field-15000": get("/", "X-A: " + "a" * 15000),
    "fields-70": get("/", *(f"X-{n}: {n}" for n in range(70))),
    "fields-97": get("/", *(f"X-{n}: {n}" for n in range(97))),
    "fields-14000-bytes": get("/", *(f"X-{n}: " + "a" * 1000 for n in range(14))),
    "fields-30000-bytes": get("/", *(f"X-{n}: " + "a" * 1000 for n in range(30))),
    "cookie-two-lines": get("/", "Cookie: a=1", "Cookie: b=2"),
    "cookie-odd": get("/", 'Cookie: a="1 2"; ; b; =c; d==;'),
    "cookie-latin": get("/", "Cookie: a=\xfc"),
    "authorization-twice": get("/", "Authorization: Basic YTpi", "Authorization: Basic Yzpk"),
    "accept-twice": get("/", "Accept: a/b", "Accept: c/d"),
    "type-twice": post("ab", "Content-Type: text/plain", "Content-Type: text/html"),
    "coding-of-content": post("ab", "Content-Encoding: unknown"),
    "forwarded-for-forged": get("/", "X-Forwarded-For: 192.0.2.1"),
    "forwarded-forged": get("/", "Forwarded: for=192.0.2.1"),
    "real-ip-forged": get("/", "X-Real-IP: 192.0.2.1"),
    "via-there": get("/", "Via: 1.1 other"),
    "early-data": get("/", "Early-Data: 1"),
    "range-many": get("/", "Range: bytes=" + ",".join(f"{n}-{n}" for n in range(200))),
    "conditional": get("/", 'If-None-Match: "a", W/"b"', "If-Modified-Since: Sat, 01 Jan 2000 00:00:00 GMT"),
    "date": get("/", "Date: Sat, 01 Jan 2000 00:00:00 GMT"),
    "proxy": get("/", "Proxy: http://192.0.2.1"),
    "method-override": get("/", "X-HTTP-Method-Override: DELETE"),
    "class-claimed": get("/", "Headworks-Class: premium"),
    "type-on-get": get("/", "Content-Type: text/plain"),
    "referer-latin": get("/", "Referer: http://test/\xe4"),
}

BODIES = {
    "body-none": post(""),
    "body-no-length": get(method="POST"),
    "body-100000": post("a" * 100_000),
    "body-binary": post("".join(map(chr, range(256)))),
    "body-then-line": post("ab") + b"\r\n",
    "chunks-none": chunked("0\r\n\r\n"),
    "chunks-several": chunked("1\r\na\r\n2\r\nbc\r\n3\r\ndef\r\n0\r\n\r\n"),
    "chunks-capitals": chunked("A\r\n0123456789\r\n0\r\n\r\n"),
    "chunks-zeros": chunked("0002\r\nab\r\n000\r\n\r\n"),
    "chunks-extension-quoted": chunked('2;a="b;c"\r\nab\r\n0\r\n\r\n'),
    "chunks-100000": chunked("186a0\r\n" + "a" * 100_000 + "\r\n0\r\n\r\n"),
    "trailers-announced": chunked("2\r\nab\r\n0\r\nX-T: 1\r\n\r\n", "Trailer: X-T"),
    "trailers-not-announced": chunked("2\r\nab\r\n0\r\nX-T: 1\r\n\r\n"),
    "trailers-missing": chunked("2\r\nab\r\n0\r\n\r\n", "Trailer: X-T"),
    "trailers-cookie": chunked("2\r\nab\r\n0\r\nCookie: a=b\r\n\r\n", "Trailer: Cookie"),
}

PIPELINES = {
    "pipeline-three": get("/1") + get("/2") + get("/3"),
    "pipeline-body-first": post("ab") + get("/2"),
    "pipeline-get-with-length": post("ab", method="GET") + get("/2"),
    "pipeline-head": get("/1", method="HEAD") + get("/2"),
    "pipeline-close-in-the-middle": get("/1") + get("/2", "Connection: close") + get("/3"),
    "pipeline-old": get("/1", version="1.0") + get("/2"),
    "pipeline-bad-second": get("/1") + b"GET /2 HTTP/1.1\r\nX-A\r\n\r\n",
}

REQUESTS = {
    name: bytes_ + AFTER
    for group in (METHODS, TARGETS, HOSTS, VERSIONS, HOPS, EXPECTATIONS, FIELDS, BODIES, PIPELINES)
    for name, bytes_ in group.items()
}
