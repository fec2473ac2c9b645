"""The server behind the proxies: answers as it is told, and keeps what reached it."""

import contextlib
import socket
import struct
import threading
import time

from common.http1 import End, Message, Reader, Silence
from common.processes import LOOPBACK

PATIENCE = 10.0
"""Seconds for a proxy to send the rest of a request."""

SETTLED = 1.0
"""Seconds to wait for the end of a request that a proxy has given up."""

APART = 0.05
"""Seconds between the last bytes and the end of the connection: what a proxy does with both at once varies."""

CLOSE, RESET, SILENT = "close", "reset", "silent"
"""What can stand among the pieces of a response: the connection ends, is reset, or nothing more comes."""

Pieces = list[bytes | str]

PLAIN: Pieces = [b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 2\r\n\r\nok"]


class Recorder:
    """A listening socket with a thread for each connection."""

    def __init__(self) -> None:
        self._listener = socket.create_server((LOOPBACK, 0), backlog=64)
        self.port = self._listener.getsockname()[1]
        self._lock = threading.Lock()
        self._open: set[socket.socket] = set()
        self._answers: dict[bytes, Pieces] = {}
        self._requests: list[Message] = []
        self._reading = 0
        threading.Thread(target=self._accept, daemon=True).start()

    def begin(self, answers: dict[bytes, Pieces]) -> None:
        """A new case: connections of the last one end; `answers` go to the targets that they name."""
        with self._lock:
            for stream in self._open:
                with contextlib.suppress(OSError):
                    stream.shutdown(socket.SHUT_RDWR)
            self._open.clear()
            self._answers, self._requests = answers, []

    def seen(self) -> list[Message]:
        """What has come since, when nothing more of it is on its way."""
        end = time.monotonic() + SETTLED
        while self._reading and time.monotonic() < end:
            time.sleep(0.01)
        with self._lock:
            return list(self._requests)

    def close(self) -> None:
        """No more connections."""
        self.begin({})
        self._listener.close()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                stream, _ = self._listener.accept()
                stream.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                with self._lock:
                    self._open.add(stream)
                    answers, requests = self._answers, self._requests
                threading.Thread(target=self._serve, args=(stream, answers, requests), daemon=True).start()

    def _serve(self, stream: socket.socket, answers: dict[bytes, Pieces], requests: list[Message]) -> None:
        reader = Reader(stream, PATIENCE)
        with contextlib.suppress(End, Silence, OSError), stream:
            while True:
                request = reader.head()
                request.complete = False
                with self._lock:
                    requests.append(request)
                    self._reading += 1
                target = request.start.split(b" ")[1] if request.start.count(b" ") else b""
                pieces = answers.get(target, PLAIN)
                try:
                    if any(b"100-continue" in value.lower() for value in request.get(b"expect")):
                        stream.sendall(b"HTTP/1.1 100 Continue\r\n\r\n")
                    request.complete = True
                    reader.body(request, to_end=False)
                finally:
                    with self._lock:
                        self._reading -= 1
                if not request.complete or not answer(stream, request, pieces):
                    return


def answer(stream: socket.socket, request: Message, pieces: Pieces) -> bool:
    """Sends the pieces; says whether the connection goes on."""
    for piece in pieces:
        if piece in (CLOSE, RESET):
            time.sleep(APART)
        if piece == CLOSE:
            stream.shutdown(socket.SHUT_WR)
            return False
        if piece == RESET:
            stream.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            stream.close()
            return False
        if piece == SILENT:
            stream.settimeout(PATIENCE)
            stream.recv(1)
            return False
        head, separator, _ = piece.partition(b"\r\n\r\n")
        only_head = request.start.startswith(b"HEAD ") and pieces is PLAIN
        stream.sendall(head + separator if only_head else piece)
    return True
