"""What a client asks and what it gets, of whatever kind it is."""

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Scenario:
    """A request that every server of the suite understands."""

    name: str
    path: str
    method: str = "GET"
    headers: tuple[tuple[str, str], ...] = ()
    body: int | None = None
    """Bytes of the body; without it there is no body."""
    chunked: bool = False
    status: int = 200
    """What the server answers when it is asked directly."""
    needs: frozenset[str] = frozenset()
    """What the client must be able to; see `clients.py`."""
    kind: str = "request"
    """`request`, `events`, `upload`, `early`, `websocket`."""


@dataclass
class Outcome:
    """What a client got. `facts` are what a scenario found besides, in words."""

    status: int = 0
    reason: str | None = None
    """Only HTTP/1 has one, and not every client tells it."""
    fields: list[tuple[str, str]] = field(default_factory=list)
    body: bytes = b""
    trailers: list[tuple[str, str]] = field(default_factory=list)
    interim: list[str] = field(default_factory=list)
    facts: list[str] = field(default_factory=list)
    error: str | None = None

    @classmethod
    def failed(cls, error: object) -> "Outcome":
        """Nothing came of it."""
        return cls(error=f"{type(error).__name__}: {error}" if isinstance(error, Exception) else str(error))
