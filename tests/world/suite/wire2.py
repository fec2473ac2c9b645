"""A client of HTTP/2 that sees frames."""

import contextlib
import socket
from pathlib import Path

import h2.config
import h2.connection
import h2.events
import h2.exceptions

from common.http1 import connect

from .exchange import Outcome, Scenario
from .scenarios import PIECE
from .wire1 import PATIENCE, before, seen, text, trusting

Bytes = list[tuple[bytes, bytes]]


class Wire2:
    """Connections to one server, each for one request."""

    def __init__(self, port: int, authority: Path | None, here: Path):
        self.port, self.here = port, here
        self.context = trusting(authority, "h2")

    def run(self, scenario: Scenario, identity: str) -> Outcome:
        """Does what the scenario says."""
        try:
            with self.stream() as stream:
                return Stream(stream, self, scenario, identity).run()
        except (OSError, h2.exceptions.ProtocolError) as error:
            return Outcome.failed(error)

    def stream(self) -> socket.socket:
        """A connection."""
        stream = connect(self.port, PATIENCE)
        return self.context.wrap_socket(stream, server_hostname="localhost") if self.context else stream


class Stream:
    """One request on a connection of its own."""

    def __init__(self, stream, client: Wire2, scenario: Scenario, identity: str):
        self.stream, self.client, self.scenario, self.identity = stream, client, scenario, identity
        config = h2.config.H2Configuration(header_encoding=None, validate_outbound_headers=False)
        self.state = h2.connection.H2Connection(config)
        self.outcome = Outcome()
        self.body = bytearray()
        self.ended = False
        self.said = 0

    def run(self) -> Outcome:
        """Sends and reads until the response has ended."""
        self.state.initiate_connection()
        size = h2.settings.SettingCodes.INITIAL_WINDOW_SIZE
        self.state.update_settings({size: 1 << 24})
        self.state.increment_flow_control_window(1 << 24)
        body = self.scenario.body
        self.state.send_headers(1, self.head(), end_stream=not body and not self.scenario.chunked)
        self.flush()
        self.body_sent(body)
        while not self.ended:
            self.read()
        self.outcome.body = bytes(self.body)
        if self.scenario.kind != "request":
            self.outcome.fields = []
        if self.scenario.kind == "events":
            self.outcome.body = b""
        return self.outcome

    def body_sent(self, body: int | None) -> None:
        """Sends the body."""
        if self.scenario.kind == "upload":
            for number in range(1, body + 1):
                self.send(b"b" * PIECE)
                facts = self.outcome.facts
                if number > 1:
                    facts.append(seen(self.client.here / f"{self.identity}.{(number - 1) * PIECE}", facts))
        elif body:
            self.send(b"b" * body)
        if (body or self.scenario.chunked) and not self.ended:
            self.state.end_stream(1)
            self.flush()

    def head(self) -> Bytes:
        """A request's head; a cookie in a field of its own, as browsers send them."""
        path = self.scenario.path + (self.identity if self.scenario.kind in ("events", "upload") else "")
        fields = [
            (":method", self.scenario.method),
            (":scheme", "https" if self.client.context else "http"),
            (":authority", f"localhost:{self.client.port}"),
            (":path", path),
        ]
        for name, value in self.scenario.headers:
            values = value.split("; ") if name == "Cookie" else [value]
            fields += [(name.lower(), one) for one in values]
        if self.scenario.body is not None and not self.scenario.chunked:
            each = PIECE if self.scenario.kind == "upload" else 1
            fields.append(("content-length", str(self.scenario.body * each)))
        return [(name.encode(), value.encode("latin-1")) for name, value in fields]

    def flush(self) -> None:
        """What is to be sent; to a server that has closed nothing is, and what it has said is read."""
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            self.stream.sendall(self.state.data_to_send())

    def send(self, body: bytes) -> None:
        """As fast as the windows allow; not on when the server has ended the stream."""
        while body and not self.ended:
            room = min(self.state.local_flow_control_window(1), self.state.max_outbound_frame_size, len(body))
            if room == 0:
                self.read()
                continue
            self.state.send_data(1, body[:room])
            body = body[room:]
            self.flush()

    def read(self) -> None:
        """What has come."""
        data = self.stream.recv(1 << 18)
        if not data:
            raise ConnectionError("closed before the response had ended")
        for event in self.state.receive_data(data):
            self.take(event)
        self.flush()

    def take(self, event: h2.events.Event) -> None:
        """A frame."""
        out = self.outcome
        match event:
            case h2.events.InformationalResponseReceived():
                (_, status), *fields = event.headers
                out.interim.append(before(text(bytes(status)), [(bytes(n), bytes(v)) for n, v in fields]))
            case h2.events.ResponseReceived():
                fields = pairs(event.headers)
                out.status = int(dict(fields)[":status"])
                out.fields = [(name, value) for name, value in fields if name != ":status"]
            case h2.events.DataReceived():
                self.body += event.data
                self.state.acknowledge_received_data(event.flow_controlled_length, 1)
                self.acknowledge()
            case h2.events.TrailersReceived():
                out.trailers = pairs(event.headers)
            case h2.events.StreamEnded():
                self.ended = True
            case h2.events.StreamReset():
                self.ended = True
                # A server that has answered needs no more of a body (RFC 9113, 8.1).
                if event.error_code or not out.status:
                    out.error = f"reset with {event.error_code}"
            case h2.events.ConnectionTerminated() if event.error_code:
                out.error = f"GOAWAY with {event.error_code}"

    def acknowledge(self) -> None:
        """Says of each event that it is there; the server sends the next one only then."""
        if self.scenario.kind != "events":
            return
        events = [line for line in text(bytes(self.body)).split("\n\n") if line]
        while self.said < len(events) and self.body.endswith(b"\n\n"):
            (self.client.here / f"{self.identity}.{self.said}").touch()
            self.said += 1
        self.outcome.facts = events


def pairs(fields: Bytes) -> list[tuple[str, str]]:
    """As text, one for one."""
    return [(text(bytes(name)), text(bytes(value))) for name, value in fields]
