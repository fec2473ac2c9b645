"""What became of a case behind one proxy, as facts that can be compared: a list of short texts."""

import contextlib
import hashlib
from collections import Counter
from dataclasses import dataclass, field

from common.http1 import End, Fields, Message, Reader, Silence, connect

from .proxies import Lane
from .requests import AFTER
from .responses import Case

QUIET = 2.0
"""Seconds without a byte after which a connection counts as waiting; answers take milliseconds."""

TARGET = "/case"
LONGEST = 90
MOST = 8
"""Facts of a difference that are listed."""

FRAMES = {"content-length", "transfer-encoding", "connection", "keep-alive"}
"""What says how a message ends and a connection goes on is compared by what it means."""

FRAMINGS = {"none": "no body", "length": "length", "chunked": "chunks", "close": "until the end"}

REQUEST_OWN = {
    ("x-forwarded-for", "127.0.0.1"),
    ("x-forwarded-proto", "http"),
    ("via", "1.1 headworks"),
    ("via", "1.0 headworks"),
}
"""What the proxies were told to add to requests."""

OWN_ADDRESS = "of the server"
"""What a request without `Host` may say: where the server is."""

RESPONSE_OWN = ("date", "server")
"""What a proxy may add to a response that lacks it."""

SESSION = "set-cookie: headworks="
UNSHARED = "cache-control: private"
"""What the gate adds to a response that begins a session."""


@dataclass
class Outcome:
    """`client` is what the client was told, `server` what the server was asked."""

    client: list[str] = field(default_factory=list)
    server: list[str] = field(default_factory=list)
    passed: list[str] = field(default_factory=list)
    """The request lines that reached the server."""


def text(data: bytes) -> str:
    """Bytes that can be read, cut where they are many."""
    shown = data.decode("latin-1").encode("unicode_escape").decode().replace("|", "\\x7c").replace("`", "\\x60")
    if len(shown) <= LONGEST:
        return shown
    return f"{shown[:40]}.. ({len(data)} bytes, {hashlib.sha256(data).hexdigest()[:8]})"


def lines(fields: Fields) -> list[str]:
    """Fields with names in lower case: their case has no meaning."""
    return [f"{text(name.lower())}: {text(value)}" for name, value in fields]


def name_of(line: str) -> str:
    """Of a field."""
    return line.split(":", maxsplit=1)[0]


def request_facts(request: Message, port: int) -> list[str]:
    """What a request says; what every proxy adds in its own words is left out."""
    host = b"".join(request.get(b"host"))
    own = REQUEST_OWN | {("x-forwarded-host", text(host))}
    facts = [text(request.start)]
    address = f"127.0.0.1:{port}"
    for line in lines(request.fields):
        name, _, value = line.partition(": ")
        if name not in FRAMES and (name, value) not in own:
            facts.append(line.replace(address, OWN_ADDRESS))
    if not request.complete:
        return [*facts, "body cut off"]
    if request.body:
        facts.append(f"body {text(request.body)}")
    return facts + [f"trailer {line}" for line in lines(request.trailers)]


def try_request(lane: Lane, sent: bytes) -> Outcome:
    """Sends the bytes, and reads what comes until nothing more does."""
    lane.recorder.begin({})
    outcome = Outcome()
    method = sent.lstrip().split(b" ", 1)[0].decode("latin-1")
    with connect(lane.port, QUIET) as stream:
        reader = Reader(stream, QUIET)
        statuses: list[str] = []
        try:
            with contextlib.suppress(OSError):
                stream.sendall(sent)
            while True:
                response = reader.response(method)
                statuses += [str(interim.status) for interim in response.interim]
                statuses.append(str(response.status) + ("" if response.complete else " (cut)"))
                method = "GET"
        except End as end:
            statuses.append("reset" if end.reset else "end")
        except Silence:
            statuses.append("open" if statuses else "waits")
    outcome.client = [" ".join(statuses)]
    after = AFTER.split(b"\r\n", 1)[0]
    for request in lane.recorder.seen():
        outcome.passed.append(text(request.start))
        if request.start != after:
            outcome.server += request_facts(request, lane.recorder.port)
    return outcome


def response_facts(response: Message, case: Case) -> list[str]:
    """What a response says; of one that the proxy wrote itself only the status."""
    told = b"".join(piece for piece in case.pieces if isinstance(piece, bytes))
    if f" {response.status:03}".encode() not in told:
        return [f"{response.status} of its own"]
    facts = [text(response.start.split(b" ", 1)[-1])]
    listed = lines(response.fields)
    session = any(line.startswith(SESSION) and "forged" not in line for line in listed)
    for line in listed:
        own = (line.startswith(SESSION) and "forged" not in line) or (session and line == UNSHARED)
        added = name_of(line) in RESPONSE_OWN and name_of(line).encode() + b":" not in told.lower()
        if name_of(line) not in FRAMES and not own and not added:
            facts.append("date: now" if name_of(line) == "date" and " 2000 " not in line else line)
    if not response.complete:
        return [*facts, "cut off"]
    facts.append(
        f"{FRAMINGS[response.framing]}: {text(response.body)}" if response.body else FRAMINGS[response.framing]
    )
    facts += [f"trailer {line}" for line in lines(response.trailers)]
    for interim in response.interim:
        facts.append(f"before: {text(interim.start.split(b' ', 1)[-1])}")
        facts += [f"before: {line}" for line in lines(interim.fields)]
    return facts


def question(case: Case) -> bytes:
    """What the client asks."""
    old = "HTTP/1.0" in case.asks
    asked = "".join(f"{line}\r\n" for line in case.asks if line != "HTTP/1.0")
    body = "ab" if case.method == "POST" else ""
    length = f"Content-Length: {len(body)}\r\n" if body else ""
    version = "1.0" if old else "1.1"
    return f"{case.method} {TARGET} HTTP/{version}\r\nHost: test\r\n{asked}{length}\r\n{body}".encode()


def try_response(lane: Lane, case: Case) -> Outcome:
    """Asks for the response, and then for another, on the same connection if it is open."""
    lane.recorder.begin({TARGET.encode(): case.pieces})
    outcome = Outcome()
    with connect(lane.port, QUIET) as stream:
        reader = Reader(stream, QUIET)
        try:
            stream.sendall(question(case))
            response = reader.response(case.method)
            outcome.client = response_facts(response, case)
            goes_on = response.complete and response.framing != "close"
        except End as end:
            outcome.client, goes_on = ["reset" if end.reset else "end without a response"], False
        except Silence:
            outcome.client, goes_on = ["nothing"], False
        following = after(stream, reader) if goes_on else None
    if following is None:
        if goes_on:
            outcome.client.append("connection ends")
        with connect(lane.port, QUIET) as stream:
            following = after(stream, Reader(stream, QUIET))
    outcome.client.append(f"next: {following}")
    return outcome


def after(stream, reader: Reader) -> str | None:
    """The answer to another request; nothing where the connection has ended."""
    try:
        stream.sendall(b"GET /next HTTP/1.1\r\nHost: test\r\n\r\n")
        response = reader.response("GET")
        return f"{response.status} {text(response.body)}"
    except (End, OSError):
        return None
    except Silence:
        return "nothing"


def difference(gate: Outcome, other: Outcome) -> tuple[str, str] | None:
    """What is so behind one proxy only, of each; nothing where both are alike."""
    mine, theirs = list(gate.client), list(other.client)
    if bool(gate.passed) == bool(other.passed):
        mine += gate.server
        theirs += other.server
    else:
        mine += [f"passes {line}" for line in gate.passed]
        theirs += [f"passes {line}" for line in other.passed]
    only_mine, only_theirs = Counter(mine) - Counter(theirs), Counter(theirs) - Counter(mine)
    if not only_mine and not only_theirs:
        return None
    return joined(only_mine), joined(only_theirs)


def joined(facts: Counter[str]) -> str:
    """Some in full; of many, how many there are."""
    listed = list(facts.elements())
    if len(listed) > MOST:
        listed = [*listed[:3], f"{len(listed) - 3} more"]
    return " + ".join(listed) or "-"
