"""What is asked: the same of every server by every client, as far as both can."""

from .exchange import Scenario

PIECE = 1000
"""Bytes of a piece of an upload that streams."""
PIECES = 4
"""A piece must have been read when the one behind it was sent: some servers look that far ahead."""
EVENTS = 3
KIB, MB = 1024, 1_000_000


def needs(*what: str) -> frozenset[str]:
    """What a client must be able to."""
    return frozenset(what)


ALL = needs("all")
"""Those that differ little from another one are for the clients that see bytes and frames."""

REQUESTS = [
    Scenario("get", "/echo?a=b&c=%20d"),
    Scenario("get-many-fields", "/echo", headers=tuple((f"X-Field-{n}", f"{n}") for n in range(60)), needs=ALL),
    Scenario("get-long-field", "/echo", headers=(("X-Long", "l" * 6000),), needs=ALL),
    Scenario("get-long-url", "/echo?" + "u" * 3000, needs=ALL),
    Scenario("get-empty-field", "/echo", headers=(("X-Empty", ""),), needs=ALL),
    Scenario("get-latin-field", "/echo", headers=(("X-Latin", "\xdc\xe9"),), needs=needs("latin")),
    Scenario("get-encoded", "/echo/a%20b%2Fc;d=e/%C3%BC?x=%26&y=+", needs=ALL),
    Scenario("get-cookies", "/echo", headers=(("Cookie", 'a=1; b="2 3"; c=4'),), needs=needs("cookies")),
    Scenario("get-twice-field", "/echo", headers=(("X-Two", "1"), ("X-Two", "2")), needs=needs("twice")),
    Scenario(
        "get-authorized", "/echo", headers=(("Cache-Control", "no-cache"), ("Authorization", "Basic YTpi")), needs=ALL
    ),
    Scenario("head", "/bytes/1234", method="HEAD"),
    Scenario("head-chunks", "/chunks/1234", method="HEAD", needs=ALL),
    Scenario("options", "/echo", method="OPTIONS", needs=ALL),
    Scenario("options-star", "*", method="OPTIONS", needs=needs("star")),
    Scenario("propfind", "/echo", method="PROPFIND", headers=(("Depth", "1"),), needs=ALL),
    Scenario("post-none", "/echo", method="POST", body=0, needs=ALL),
    Scenario("post-1k", "/echo", method="POST", body=KIB),
    Scenario("post-100k", "/echo", method="POST", body=100 * KIB),
    Scenario("post-5m", "/echo", method="POST", body=5 * MB, needs=needs("large")),
    Scenario("put", "/echo", method="PUT", body=10, needs=ALL),
    Scenario("patch", "/echo", method="PATCH", body=10, headers=(("Content-Type", "application/json"),), needs=ALL),
    Scenario("delete", "/echo", method="DELETE", needs=ALL),
    Scenario("delete-body", "/echo", method="DELETE", body=10),
    Scenario("chunked-none", "/echo", method="POST", body=0, chunked=True, needs=needs("all", "chunked")),
    Scenario("chunked-1k", "/echo", method="POST", body=KIB, chunked=True, needs=needs("chunked")),
    Scenario("chunked-100k", "/echo", method="POST", body=100 * KIB, chunked=True, needs=needs("chunked")),
    Scenario("chunked-5m", "/echo", method="POST", body=5 * MB, chunked=True, needs=needs("chunked", "large")),
    Scenario("expect", "/echo", method="POST", body=10, headers=(("Expect", "100-continue"),), needs=needs("expect")),
    Scenario("bytes-none", "/bytes/0", needs=ALL),
    Scenario("bytes-1m", "/bytes/1000000", needs=ALL),
    Scenario("chunks-none", "/chunks/0", needs=ALL),
    Scenario("chunks-1m", "/chunks/1000000"),
    Scenario("download-20m", "/bytes/20000000", needs=needs("download")),
    Scenario("file", "/file", needs=ALL),
    Scenario("range", "/file", headers=(("Range", "bytes=100-299"),), status=206),
    Scenario("range-end", "/file", headers=(("Range", "bytes=-50"),), status=206, needs=ALL),
    Scenario("range-open", "/file", headers=(("Range", "bytes=99990-"),), status=206, needs=ALL),
    Scenario("range-beyond", "/file", headers=(("Range", "bytes=200000-"),), status=416, needs=ALL),
    Scenario("range-changed", "/file", headers=(("Range", "bytes=0-9"), ("If-Range", '"other"')), needs=ALL),
    Scenario("unchanged", "/file", headers=(("If-None-Match", '"world-1"'),), status=304),
    Scenario("gzip", "/gzip", headers=(("Accept-Encoding", "gzip"),)),
    Scenario("cookies", "/cookies"),
    Scenario("fields", "/fields"),
    Scenario("reason", "/reason", status=299),
    Scenario("slow", "/slow", needs=ALL),
    Scenario("hints", "/hints", needs=needs("interim")),
    Scenario("trailers", "/trailers", headers=(("TE", "trailers"),), needs=needs("trailers")),
    Scenario("redirect-302", "/redirect/302", status=302),
    Scenario("status-204", "/status/204", status=204),
    Scenario("status-404", "/status/404", status=404),
    *(Scenario(f"redirect-{code}", f"/redirect/{code}", status=code, needs=ALL) for code in (301, 303, 307, 308)),
    *(
        Scenario(f"status-{code}", f"/status/{code}", status=code, needs=ALL)
        for code in (201, 202, 400, 401, 403, 405, 409, 410, 422, 429, 451, 500, 501, 502, 503, 504)
    ),
]

STREAMS = [
    Scenario("events", f"/events?n={EVENTS}&id=", kind="events", needs=needs("events")),
    Scenario("upload-chunks", "/upload?id=", "POST", body=PIECES, chunked=True, kind="upload", needs=needs("upload")),
    Scenario("upload-length", "/upload?id=", "POST", body=PIECES, kind="upload", needs=needs("upload-length")),
    Scenario("early", "/early", "POST", body=3 * MB, status=413, kind="early", needs=needs("early")),
    Scenario("websocket", "/ws", kind="websocket", status=101, needs=needs("websocket")),
]

CALLS = [
    Scenario(f"grpc-{call}", "", kind="grpc")
    for call in ("unary", "large", "error", "unknown", "deadline", "download", "upload", "both", "cancelled")
]

SCENARIOS = REQUESTS + STREAMS + CALLS
