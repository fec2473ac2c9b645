"""A client of HTTP/1 that sees bytes: nothing is mended, nothing is hidden."""

import contextlib
import socket
import ssl
import time
from pathlib import Path

from common.http1 import End, Message, Reader, Silence, connect

from .exchange import Outcome, Scenario
from .scenarios import PIECE

PATIENCE = 20.0
SEEN = 5.0
"""Seconds until a piece of an upload must have reached the server."""

MISSED = "piece not seen before the next one"


def text(data: bytes) -> str:
    """Bytes as text, one for one."""
    return data.decode("latin-1")


def outcome(response: Message) -> Outcome:
    """As every client tells it."""
    return Outcome(
        status=response.status,
        reason=text(response.reason),
        fields=[(text(name), text(value)) for name, value in response.fields],
        body=response.body,
        trailers=[(text(name), text(value)) for name, value in response.trailers],
        interim=[before(found.status, found.fields) for found in response.interim],
        error=None if response.complete else "the body was cut off",
    )


def before(status: int | str, fields: list[tuple[bytes, bytes]]) -> str:
    """An interim response, without what a server says of itself."""
    said = sorted(f"{text(name).lower()}: {text(value)}" for name, value in fields)
    return f"{status} {[line for line in said if not line.startswith(('date: ', 'server: '))]}"


def trusting(authority: Path | None, protocol: str) -> ssl.SSLContext | None:
    """What TLS needs; nothing in the clear."""
    if authority is None:
        return None
    context = ssl.create_default_context(cafile=authority)
    context.set_alpn_protocols([protocol])
    return context


class Wire1:
    """Connections to one server, each for one request."""

    def __init__(self, port: int, authority: Path | None, here: Path, version: str = "1.1"):
        self.port, self.here, self.version = port, here, version
        self.context = trusting(authority, "http/1.1")

    def stream(self) -> socket.socket:
        """A connection."""
        stream = connect(self.port, PATIENCE)
        return self.context.wrap_socket(stream, server_hostname="localhost") if self.context else stream

    def head(self, scenario: Scenario, identity: str) -> bytes:
        """A request's head."""
        path = scenario.path + (identity if scenario.kind in ("events", "upload") else "")
        lines = [f"{scenario.method} {path} HTTP/{self.version}", f"Host: localhost:{self.port}"]
        lines += [f"{name}: {value}" for name, value in scenario.headers]
        if scenario.name == "trailers":
            lines.append("Connection: TE")
        if scenario.chunked:
            lines.append("Transfer-Encoding: chunked")
        elif scenario.body is not None:
            each = PIECE if scenario.kind == "upload" else 1
            lines.append(f"Content-Length: {scenario.body * each}")
        return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")

    def run(self, scenario: Scenario, identity: str) -> Outcome:
        """Does what the scenario says."""
        try:
            with self.stream() as stream:
                reader = Reader(stream, PATIENCE)
                return getattr(self, scenario.kind)(stream, reader, scenario, identity)
        except (End, Silence, OSError) as error:
            return Outcome.failed(error)

    def request(self, stream, reader: Reader, scenario: Scenario, identity: str) -> Outcome:
        """Sends all, then reads."""
        expects = any(name == "Expect" for name, _ in scenario.headers)
        stream.sendall(self.head(scenario, identity))
        interim = []
        if expects:
            message = reader.head()
            if message.status != 100:
                return outcome(reader.body(message, to_end=True))
            interim = [message]
        if scenario.body:
            stream.sendall(self.frame(scenario, b"b" * scenario.body))
        if scenario.chunked:
            stream.sendall(b"0\r\n\r\n")
        response = reader.response(scenario.method)
        response.interim = [*interim, *response.interim]
        return outcome(response)

    def frame(self, scenario: Scenario, body: bytes) -> bytes:
        """As a chunk where the body has no length."""
        return b"%x\r\n%s\r\n" % (len(body), body) if scenario.chunked else body

    def events(self, stream, reader: Reader, scenario: Scenario, identity: str) -> Outcome:
        """Says of each event that it is there; the server sends the next one only then."""
        stream.sendall(self.head(scenario, identity))
        response = reader.head()
        found = []
        # Chunks or not, an event is a line.
        while len(found) < 1 or not found[-1].startswith(("data: 2", "data: not")):
            if (line := text(reader.line())).startswith("data: "):
                (self.here / f"{identity}.{len(found)}").touch()
                found.append(line)
        return Outcome(response.status, facts=found)

    def upload(self, stream, reader: Reader, scenario: Scenario, identity: str) -> Outcome:
        """Sends a piece when the server has all but the last."""
        stream.sendall(self.head(scenario, identity))
        facts = []
        for number in range(1, scenario.body + 1):
            stream.sendall(self.frame(scenario, b"b" * PIECE))
            if number > 1:
                facts.append(seen(self.here / f"{identity}.{(number - 1) * PIECE}", facts))
        if scenario.chunked:
            stream.sendall(b"0\r\n\r\n")
        response = reader.response("POST")
        return Outcome(response.status, body=response.body, facts=facts)

    def early(self, stream, reader: Reader, scenario: Scenario, identity: str) -> Outcome:
        """Sends until an answer comes, as clients do that read while they send."""
        stream.sendall(self.head(scenario, identity))
        stream.settimeout(PATIENCE)
        with contextlib.suppress(OSError):
            stream.sendall(b"b" * scenario.body)
        response = reader.response("POST")
        return Outcome(response.status, body=response.body)


def seen(mark: Path, facts: list[str]) -> str:
    """Whether the server has made this file, which it does when a piece has come; waits for one missed piece only."""
    end = time.monotonic() + (0 if MISSED in facts else SEEN)
    while not mark.exists():
        if time.monotonic() > end:
            return MISSED
        time.sleep(0.005)
    return "piece seen"
