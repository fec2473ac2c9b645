"""The servers: how each is started, what it speaks, and how its log is read."""

from collections.abc import Callable
from dataclasses import dataclass

from common.processes import Scratch

from . import applications, logs, webservers
from .instance import Instance

ALL = ("h1", "h1+tls", "h2", "h2+tls")
FIRST = ("h1", "h1+tls")

DONE = logs.lines(frozenset({"done"}))


@dataclass(frozen=True)
class Kind:
    """A server."""

    name: str
    begin: Callable[[Scratch, Instance], None]
    read: logs.Reader = DONE
    protocols: tuple[str, ...] = ALL
    limited: tuple[str, ...] = ()
    """Those on which it closes a connection after so many requests, when it is told to."""
    shared: bool = True
    """Whether both versions in the clear are spoken on one port."""
    closes: bool = False
    """Whether every response of HTTP/1 ends its connection."""
    numbered: bool = False
    """Whether its log numbers connections. Others name the client's port, which may come again."""


KINDS = [
    Kind(
        "nginx", webservers.nginx, logs.lines(frozenset({".OK"})), limited=("h1", "h2+tls"), shared=False, numbered=True
    ),
    # X is for a connection that was aborted before the response was complete. With HTTP/2 it is about the stream's
    # inner connection, which mod_http2 may have taken down before the request is logged: whole responses have it, too.
    Kind(
        "apache",
        webservers.apache,
        logs.lines(frozenset("+-"), silent=frozenset({"HTTP/2.0"})),
        limited=("h1", "h1+tls"),
    ),
    # LR: it answered by itself; the first letter says whose fault an end was.
    Kind("haproxy", webservers.haproxy, logs.lines(frozenset({"--", "LR"})), limited=("h1",), shared=False),
    Kind("caddy", webservers.caddy, logs.caddy),
    Kind("node", applications.node, limited=("h1",), shared=False, numbered=True),
    Kind("go", applications.go, numbered=True),
    Kind("gunicorn-sync", applications.gunicorn("--workers", "2"), protocols=FIRST, closes=True),
    Kind("gunicorn-threads", applications.gunicorn("-k", "gthread", "--threads", "64"), shared=False),
    Kind("uvicorn", applications.uvicorn, logs.uvicorn, FIRST),
    # Not limited with HTTP/2: hypercorn 0.18 answers a request that is one too many with a GOAWAY that has it in (last
    # stream 15 of 15), logs 200 for it, and sends no response (close_connection in protocol/h2.py).
    Kind("hypercorn", applications.hypercorn, limited=("h1",)),
]
