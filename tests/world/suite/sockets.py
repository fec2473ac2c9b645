"""WebSockets by the package websockets, and gRPC by grpcio."""

import queue
import ssl
from pathlib import Path

import grpc
from websockets.exceptions import ConnectionClosed, InvalidHandshake
from websockets.sync.client import connect

from .exchange import Outcome, Scenario
from .wire1 import PATIENCE

LARGE = 3_000_000


class Websockets:
    """A WebSocket to one site."""

    def __init__(self, url: str, authority: Path | None):
        self.url = url.replace("http", "ws", 1)
        self.context = ssl.create_default_context(cafile=authority) if authority else None

    def run(self, scenario: Scenario, identity: str) -> Outcome:
        """Text, bytes, many bytes, a ping, and the code with which the server closes."""
        facts = []
        try:
            with connect(self.url + scenario.path, ssl=self.context, open_timeout=PATIENCE, max_size=1 << 23) as socket:
                facts.append(f"{socket.response.status_code} {sorted(names(socket.response.headers))}")
                for message in ("text \u00fc", b"\x00\xff", b"b" * 1_000_000, ""):
                    socket.send(message)
                    echoed = socket.recv(PATIENCE)
                    facts.append(f"echoed {echoed == message}")
                facts.append(f"pong {socket.ping(b'ping').wait(PATIENCE)}")
                socket.send("close")
                socket.recv(PATIENCE)
        except ConnectionClosed as closed:
            facts.append(
                f"closed {closed.rcvd.code if closed.rcvd else None} {closed.rcvd.reason if closed.rcvd else ''}"
            )
        except (InvalidHandshake, OSError) as error:
            return Outcome.failed(error)
        return Outcome(101, facts=facts)


ADDED = ("set-cookie", "date", "server", "cache-control")
"""What the gate adds to a response, or the server in its own way."""


def names(headers) -> list[str]:
    """Of the answer's fields, but for those of the gate's session."""
    return [name.lower() for name in headers if name.lower() not in ADDED]


def plain(data: bytes) -> bytes:
    """A message is its bytes."""
    return data


class Grpc:
    """A channel to one site; each scenario is a kind of call."""

    def __init__(self, port: int, authority: Path | None):
        if authority is None:
            self.channel = grpc.insecure_channel(f"127.0.0.1:{port}")
        else:
            trusted = grpc.ssl_channel_credentials(authority.read_bytes())
            self.channel = grpc.secure_channel(f"localhost:{port}", trusted)

    def run(self, scenario: Scenario, identity: str) -> Outcome:
        """Calls; what fails is a fact, since a status is part of the answer."""
        call = getattr(self, scenario.name.removeprefix("grpc-").replace("-", "_"))
        try:
            facts = call()
        except grpc.RpcError as error:
            metadata = sorted(error.trailing_metadata() or ())
            sent = [pair for pair in metadata if pair[0] not in ADDED]
            facts = [f"{error.code()} {error.details()} {sent}"]
        return Outcome(200, facts=facts)

    def method(self, kind: str, name: str):
        """A method of the service."""
        return getattr(self.channel, kind)(f"/world.World/{name}", plain, plain)

    def unary(self) -> list[str]:
        sent = (("x-sent", "1, 2"), ("x-sent-bin", b"\x00\x01"))
        reply, call = self.method("unary_unary", "Unary").with_call(b"you", timeout=PATIENCE, metadata=sent)
        initial = [pair for pair in call.initial_metadata() if pair[0].startswith("x-")]
        return [str(reply), str(sorted(initial)), str(sorted(call.trailing_metadata()))]

    def large(self) -> list[str]:
        reply = self.method("unary_unary", "Unary")(b"b" * LARGE, timeout=PATIENCE)
        return [f"{len(reply)} bytes"]

    def error(self) -> list[str]:
        return [str(self.method("unary_unary", "Failing")(b"", timeout=PATIENCE))]

    def unknown(self) -> list[str]:
        return [str(self.method("unary_unary", "Unknown")(b"", timeout=PATIENCE))]

    def deadline(self) -> list[str]:
        return [str(self.method("unary_unary", "Slow")(b"", timeout=0.3))]

    def download(self) -> list[str]:
        return [str(len(message)) for message in self.method("unary_stream", "Download")(b"20", timeout=PATIENCE)]

    def upload(self) -> list[str]:
        messages = (b"b" * 50_000 for _ in range(20))
        return [str(self.method("stream_unary", "Upload")(messages, timeout=PATIENCE))]

    def both(self) -> list[str]:
        """Each message is sent when the answer to the one before is there."""
        waiting: queue.SimpleQueue = queue.SimpleQueue()
        answers = self.method("stream_stream", "Both")(iter(waiting.get, None), timeout=PATIENCE)
        found = []
        for number in range(3):
            waiting.put(b"%d" % number)
            found.append(str(next(answers)))
        waiting.put(None)
        return [*found, *map(str, answers)]

    def cancelled(self) -> list[str]:
        """A client that leaves after the first message, and what comes after it on the same channel."""
        call = self.method("unary_stream", "Download")(b"100000", timeout=PATIENCE)
        first = len(next(call))
        call.cancel()
        return [str(first), *self.unary()]
