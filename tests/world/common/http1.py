"""HTTP/1 as bytes: what was sent is read as it stands, and nothing is mended."""

import socket
from dataclasses import dataclass, field

Fields = list[tuple[bytes, bytes]]

WITHOUT_BODY = (204, 304)


@dataclass
class Message:
    """A head, a body and trailers; `start` is the request line or the status line."""

    start: bytes
    fields: Fields = field(default_factory=list)
    body: bytes = b""
    trailers: Fields = field(default_factory=list)
    framing: str = "none"
    """How the body's end is known: none, length, chunked, close."""
    complete: bool = True
    interim: list["Message"] = field(default_factory=list)

    @property
    def status(self) -> int:
        """Of a response; 0 for a status line that has no number."""
        words = self.start.split(b" ", 2)
        return int(words[1]) if len(words) > 1 and words[1].isdigit() else 0

    @property
    def reason(self) -> bytes:
        """Of a response."""
        words = self.start.split(b" ", 2)
        return words[2] if len(words) > 2 else b""

    def get(self, name: bytes) -> list[bytes]:
        """All values of a field."""
        return [value for key, value in self.fields if key.lower() == name]


class Silence(Exception):
    """Nothing came for as long as was waited."""


class End(Exception):
    """The connection ended; `reset` when not in order."""

    def __init__(self, reset: bool):
        super().__init__("reset" if reset else "closed")
        self.reset = reset


class Reader:
    """Reads messages from a socket; `patience` is for each piece, in seconds."""

    def __init__(self, stream: socket.socket, patience: float):
        self.stream, self.patience, self.buffer = stream, patience, b""

    def _more(self) -> None:
        self.stream.settimeout(self.patience)
        try:
            piece = self.stream.recv(1 << 18)
        except TimeoutError:
            raise Silence from None
        except OSError:
            raise End(reset=True) from None
        if not piece:
            raise End(reset=False)
        self.buffer += piece

    def line(self) -> bytes:
        """Up to LF, without it and a CR before it."""
        while b"\n" not in self.buffer:
            self._more()
        line, self.buffer = self.buffer.split(b"\n", 1)
        return line.removesuffix(b"\r")

    def some(self, most: int) -> bytes:
        """At least a byte."""
        if not self.buffer:
            self._more()
        piece, self.buffer = self.buffer[:most], self.buffer[most:]
        return piece

    def fields(self) -> Fields:
        """Lines up to an empty one; a line without a colon is a name with an empty value."""
        fields = []
        while line := self.line():
            name, _, value = line.partition(b":")
            if line[:1] in b" \t" and fields:
                fields[-1] = (fields[-1][0], fields[-1][1] + b"\\n" + line)
            else:
                fields.append((name, value.strip(b" \t")))
        return fields

    def head(self) -> Message:
        """A start line, after empty ones, and fields."""
        while not (start := self.line()):
            pass
        return Message(start, self.fields())

    def _chunks(self, message: Message) -> None:
        body = bytearray()
        try:
            while length := int(self.line().split(b";")[0].strip() or b"x", 16):
                while length:
                    piece = self.some(length)
                    body += piece
                    length -= len(piece)
                self.line()
            message.trailers = self.fields()
        finally:
            message.body = bytes(body)

    def _length(self, message: Message, length: int) -> None:
        body = bytearray()
        try:
            while len(body) < length:
                body += self.some(length - len(body))
        finally:
            message.body = bytes(body)

    def body(self, message: Message, to_end: bool) -> Message:
        """Reads a body; one without a length lasts `to_end` or is empty. What breaks off is not complete."""
        codings, lengths = message.get(b"transfer-encoding"), message.get(b"content-length")
        try:
            if codings:
                message.framing = "chunked"
                self._chunks(message)
            elif lengths:
                message.framing = "length"
                self._length(message, int(lengths[0].split(b",")[0]))
            elif to_end:
                message.framing = "close"
                self._length(message, 1 << 40)
        except End as end:
            message.complete = message.framing == "close" and not end.reset
        except (Silence, ValueError):
            message.complete = False
        return message

    def request(self) -> Message:
        """A request with its body."""
        return self.body(self.head(), to_end=False)

    def response(self, method: str) -> Message:
        """A response with what came before it."""
        interim = []
        while 100 <= (message := self.head()).status < 200 and message.status != 101:
            interim.append(message)
        message.interim = interim
        if method == "HEAD" or message.status in WITHOUT_BODY or message.status == 101:
            if message.get(b"transfer-encoding"):
                message.framing = "chunked"
            elif message.get(b"content-length"):
                message.framing = "length"
            return message
        return self.body(message, to_end=True)


def connect(port: int, patience: float) -> socket.socket:
    """A connection to 127.0.0.1."""
    stream = socket.create_connection(("127.0.0.1", port), timeout=patience)
    stream.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return stream
