"""A server that runs: its ports, its files and its log."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from common.processes import LOOPBACK, Scratch, free_port

SIZES = (10, 1000, 100_000)
"""Bytes of the files that servers of files have, as `/bytes/N`."""


@dataclass
class Instance:
    """Where one server is. `limit` is after how many requests it closes a connection; nothing where it does not."""

    name: str
    place: Path
    certificate: Path
    key: Path
    limit: int | None = None
    shared: bool = True
    """Whether both versions in the clear are spoken on one port."""
    plain: int = field(default_factory=free_port)
    prior: int = field(default_factory=free_port)
    """For HTTP/2 in the clear."""
    tls: int = field(default_factory=free_port)
    upstream: int = field(default_factory=free_port)
    logs: list[Path] = field(default_factory=list)
    """Each that there is."""

    processes: list[str] = field(default_factory=list)
    """The names of those that speak with clients."""

    def __post_init__(self) -> None:
        self.place.mkdir()
        self.place.chmod(0o755)

    @property
    def log(self) -> Path:
        """Where it is told to write its log."""
        return self.place / "access.log"

    @classmethod
    def new(cls, scratch: Scratch, name: str, limit: int | None, shared: bool) -> "Instance":
        """In a directory of its own."""
        certificate, key = scratch.path / "site.pem", scratch.path / "site.key"
        return cls(name, scratch.path / name, certificate, key, limit, shared)

    def start(self, scratch: Scratch, command: Sequence[str | Path], port: int, **options) -> Path:
        """Starts one of its processes; gives the file with what it says."""
        self.processes.append(f"{self.name}-{port}")
        return scratch.start(self.processes[-1], command, port, **options)

    def logged(self) -> str:
        """All that its logs hold so far."""
        return "".join(log.read_text(errors="replace") for log in (self.log, *self.logs) if log.exists())

    def port(self, protocol: str) -> int:
        """Where it speaks this."""
        if protocol.endswith("+tls"):
            return self.tls
        return self.prior if protocol == "h2" and not self.shared else self.plain

    def url(self, protocol: str) -> str:
        """Of its root."""
        port = self.port(protocol)
        return f"https://localhost:{port}" if protocol.endswith("+tls") else f"http://{LOOPBACK}:{port}"

    def write(self, name: str, text: str, **more: object) -> Path:
        """A configuration, with the names of this instance filled in."""
        places = {"place": self.place, "log": self.log, "content": self.place.parent / "content"}
        ports = {"plain": self.plain, "prior": self.prior, "tls": self.tls, "upstream": self.upstream}
        keys = {"certificate": self.certificate, "key": self.key, "loopback": LOOPBACK}
        file = self.place / name
        file.write_text(text.format(**places, **ports, **keys, **more))
        return file


def write_content(scratch: Scratch) -> None:
    """What servers of files serve."""
    content = scratch.path / "content"
    (content / "bytes").mkdir(parents=True)
    for size in SIZES:
        (content / "bytes" / str(size)).write_bytes(b"x" * size)
    (content / "echo").write_text("echo")
    for path in (content, content / "bytes"):
        path.chmod(0o755)
