"""The logs of servers, each of its kind, read as the same entries."""

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

TAG = re.compile(r"[?&]case=([^&]+)")
AUTHORITY = re.compile(r"^https?://[^/]+")


@dataclass(frozen=True)
class Entry:
    """A request that a server has logged."""

    method: str
    url: str
    """Path and query."""
    status: int
    size: int | None
    """Bytes of the body that it has sent; nothing where its log does not say."""
    connection: str
    complete: bool
    """Whether it says that it answered to the end."""

    @property
    def case(self) -> str:
        """The run that it belongs to, as the URL says."""
        found = TAG.search(self.url)
        return found[1] if found else ""


Reader = Callable[[str], Iterator[Entry]]


def lines(complete: frozenset[str], silent: frozenset[str] = frozenset()) -> Reader:
    """Lines such as `GET /path?query 200 1000 CONNECTION VERSION END`, as most servers can be told to write them;
    `complete` are the ends of a whole response, in versions that are `silent` every end."""

    def read(text: str) -> Iterator[Entry]:
        for line in text.splitlines():
            # A time may stand before it, and what servers say of themselves between.
            words = line.split(" ")[-7:]
            if len(words) != 7 or not words[2].isdigit():
                continue
            method, url, status, size, connection, version, end = words
            # The response to HEAD has no body; some log that of GET.
            sent = int(size) if size.isdigit() and method != "HEAD" else 0
            yield Entry(
                method, AUTHORITY.sub("", url), int(status), sent, connection, end in complete or version in silent
            )

    return read


def caddy(text: str) -> Iterator[Entry]:
    """Caddy's JSON; a request whose client was gone before there was a response has the status 0."""
    for line in text.splitlines():
        # As it ends it may leave a line unfinished.
        said = json.loads(line) if line.endswith("}") else {}
        if (request := said.get("request")) is None or "status" not in said:
            continue
        size = 0 if request["method"] == "HEAD" else said["size"]
        yield Entry(request["method"], request["uri"], said["status"], size, request["remote_port"], said["status"] > 0)


UVICORN = re.compile(
    r'^INFO: +\S+:(?P<port>\d+) - "(?P<method>\S+) (?P<url>\S+) HTTP/\S+" (?P<status>\d+)', re.MULTILINE
)


def uvicorn(text: str) -> Iterator[Entry]:
    """Uvicorn's access log, which is written when a response begins and has no bytes."""
    for found in UVICORN.finditer(text):
        yield Entry(found["method"], found["url"], int(found["status"]), None, found["port"], True)
