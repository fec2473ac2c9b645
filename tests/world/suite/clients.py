"""The clients: what each can, and how it is run for one site, directly or through the gate."""

import base64
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from subprocess import PIPE

from common.processes import ROOT

from .curl import Curl
from .exchange import Outcome, Scenario
from .libraries import Httpx, Requests
from .sites import TOOLS, Site, program
from .sockets import Grpc, Websockets
from .wire1 import Wire1
from .wire2 import Wire2

LONGEST = 200
"""Seconds for all that a client in a process of its own is given to do."""


SLOW = 3.0
"""Seconds that are worth a line."""


@dataclass(frozen=True)
class Way:
    """One way to a site."""

    site: Site
    port: int
    version: int
    authority: Path | None

    @property
    def url(self) -> str:
        """The beginning of what is asked."""
        return f"https://localhost:{self.port}" if self.authority else f"http://127.0.0.1:{self.port}"


@dataclass(frozen=True)
class Ask:
    """A scenario, by one way; the identity tells it from all others."""

    way: Way
    scenario: Scenario
    identity: str

    def job(self) -> dict:
        """For a client in a process of its own."""
        scenario = self.scenario
        return {
            "id": self.identity,
            "url": self.way.url,
            "here": str(self.way.site.here),
            "path": scenario.path + (self.identity if scenario.kind in ("events", "upload") else ""),
            "method": scenario.method,
            "headers": scenario.headers,
            "body": scenario.body,
            "chunked": scenario.chunked,
            "kind": scenario.kind,
        }


@dataclass(frozen=True)
class Client:
    """A client; `can` is what it can besides what every client can."""

    name: str
    version: int
    secure: bool
    can: frozenset[str]
    run: Callable[[list[Ask]], Iterator[tuple[Ask, Outcome]]]
    lacks: frozenset[str] = frozenset()
    """Scenarios that the client itself does not let happen."""
    only: frozenset[str] = frozenset({"request", "events", "upload", "early"})
    sites: frozenset[str] | None = None
    """Which it asks, if not all: a second way of asking is not tried with every server."""
    knows_beforehand: bool = True
    """Whether it can speak HTTP/2 in the clear."""
    strict: bool = True
    """Whether the status is that of the first response: a browser follows where it is sent."""

    def does(self, scenario: Scenario) -> bool:
        """Whether it can do this."""
        return scenario.kind in self.only and scenario.needs <= self.can and scenario.name not in self.lacks

    def ways(self, site: Site, authority: Path) -> tuple[Way, Way] | None:
        """Directly in the clear, in the client's version if the server speaks it; and through the gate."""
        spoken = site.versions
        if self.sites is not None and site.name not in self.sites:
            return None
        if 1 not in spoken and (self.version == 1 or not self.knows_beforehand):
            return None
        direct = self.version if self.version in spoken else spoken[0]
        through = site.secure if self.secure else site.clear
        return Way(site, site.direct, direct, None), Way(
            site, through, self.version, authority if self.secure else None
        )


def each(make: Callable) -> Callable:
    """A client in this process, asked one thing after the other."""

    def run(asks: list[Ask]) -> Iterator[tuple[Ask, Outcome]]:
        for way, some in groupby(asks, lambda ask: ask.way):
            client = make(way)
            for ask in some:
                began = time.monotonic()
                yield ask, client.run(ask.scenario, ask.identity)
                if (took := time.monotonic() - began) > SLOW:
                    print(f"    {way.site.name} {ask.identity}: {took:.1f} s", file=sys.stderr)

    return run


def process(*words: Callable[[Way], str | Path | None]) -> Callable:
    """A client in a process of its own, which is given all that there is to ask in one version of HTTP."""

    def run(asks: list[Ask]) -> Iterator[tuple[Ask, Outcome]]:
        for version in {ask.way.version for ask in asks}:
            yield from one([ask for ask in asks if ask.way.version == version])

    def one(asks: list[Ask]) -> Iterator[tuple[Ask, Outcome]]:
        authorities = [ask.way for ask in asks if ask.way.authority]
        way = authorities[0] if authorities else asks[0].way
        line = [str(word) for make in words if (word := make(way)) is not None]
        environment = {**os.environ, "NODE_EXTRA_CA_CERTS": str(way.authority or "")}
        asked = json.dumps([ask.job() for ask in asks])
        said, wrong = finished(line, asked, environment)
        told = {found["id"]: found for found in map(json.loads, said.splitlines())}
        for ask in asks:
            found = told.get(ask.identity)
            yield ask, outcome(found) if found else Outcome.failed(wrong[-500:] or "no answer")

    return run


def finished(line: list[str], asked: str, environment: dict[str, str]) -> tuple[str, str]:
    """What a process wrote until its end, or until it was ended; whole lines of standard output, and standard error."""
    with subprocess.Popen(line, stdin=PIPE, stdout=PIPE, stderr=PIPE, text=True, env=environment) as client:
        try:
            return client.communicate(asked, LONGEST)
        except subprocess.TimeoutExpired:
            client.kill()
            said, _ = client.communicate()
            return said.rpartition("\n")[0], f"not done after {LONGEST} s"


def outcome(told: dict) -> Outcome:
    """What a process says became of a job."""
    return Outcome(
        told.get("status", 0),
        told.get("reason"),
        [tuple(pair) for pair in told.get("fields") or []],
        base64.b64decode(told.get("body") or ""),
        [tuple(pair) for pair in told.get("trailers") or []],
        facts=told.get("facts") or [],
        error=told.get("error"),
    )


def script(name: str) -> Callable:
    """A program for Node.js."""
    return process(lambda _: program("node", "nodejs"), lambda way: way.site.here.parent / "scripts" / name)


go = process(lambda _: TOOLS / "client", lambda way: str(way.version), lambda way: way.authority)
browser = process(
    lambda _: program("node", "nodejs"),
    lambda way: way.site.here.parent / "scripts" / "chromium.mjs",
    lambda _: program("chromium", "chromium"),
    lambda _: ROOT / "web" / "node_modules",
)


def curl(version: str) -> Callable:
    """curl with this version where it is asked for it, or what the way allows."""

    def make(way: Way) -> Curl:
        if way.version == 2:
            return Curl(way.url, way.authority, way.site.here, "2-tls" if way.authority else "2")
        return Curl(way.url, way.authority, way.site.here, version if version == "1.0" else "1.1")

    return each(make)


FIELDS = {"cookies", "twice"}
WIRE = FIELDS | {"latin", "star", "events", "upload", "upload-length", "early", "interim", "trailers", "chunked"}
CURL = FIELDS | {"latin", "star", "interim"}
FETCH = {"cookies", "chunked", "events", "upload"}
GO = FIELDS | {"chunked", "trailers", "events", "upload", "upload-length"}
# Over HTTP/2 it keeps the last piece of a known length back until the body has ended.
GO_2 = GO - {"upload-length"}
LIBRARY = {"cookies", "chunked", "events", "upload"}

wire1 = each(lambda way: Wire1(way.port, way.authority, way.site.here))
wire2 = each(
    lambda way: (
        Wire2(way.port, way.authority, way.site.here)
        if way.version == 2
        else Wire1(way.port, way.authority, way.site.here)
    )
)
requests = each(lambda way: Requests(way.url, way.authority, way.site.here))
httpx = each(lambda way: Httpx(way.url, way.authority, way.site.here, way.version))

BROWSER = frozenset({"post-1k", "delete-body", "chunks-1m", "gzip", "fields", "range", "reason", "status-404"})
"""What a browser is asked over TLS only, as browsers mostly are."""

FEW = frozenset({"gunicorn-sync", "hypercorn-h2", "node", "node-h2", "go-h2", "php-nginx", "java", "websockets"})
BROWSED = frozenset({"gunicorn-sync", "hypercorn-h2", "node", "php-nginx", "websockets"})

CLIENTS = [
    Client("wire", 1, False, frozenset(WIRE | {"expect", "all", "large", "download"}), wire1),
    Client("wire, TLS", 1, True, frozenset(WIRE | {"expect"}), wire1),
    Client("wire, HTTP/2", 2, False, frozenset(WIRE), wire2),
    Client("wire, HTTP/2, TLS", 2, True, frozenset(WIRE), wire2),
    Client("curl, HTTP/1.0", 1, False, frozenset(CURL - {"interim"}), curl("1.0"), sites=FEW),
    Client("curl", 1, False, frozenset(CURL | {"chunked", "expect", "large"}), curl("1.1")),
    Client("curl, HTTP/2", 2, False, frozenset(CURL), curl("2"), sites=FEW),
    Client("curl, HTTP/2, TLS", 2, True, frozenset(CURL | {"large", "download"}), curl("2")),
    Client("requests", 1, False, frozenset(LIBRARY | {"latin"}), requests),
    Client("requests, TLS", 1, True, frozenset(LIBRARY), requests, sites=FEW),
    Client("httpx", 1, False, frozenset(LIBRARY | {"twice"}), httpx, sites=FEW),
    Client("httpx, HTTP/2, TLS", 2, True, frozenset(LIBRARY | {"twice"}), httpx),
    Client("Node fetch", 1, False, frozenset(FETCH | {"large"}), script("fetch.mjs")),
    Client("Node fetch, TLS", 1, True, frozenset(FETCH), script("fetch.mjs"), sites=FEW),
    Client("Go", 1, False, frozenset(GO | {"expect"}), go),
    Client("Go, HTTP/2, TLS", 2, True, frozenset(GO_2 | {"all", "large", "download"}), go),
    Client(
        "Chromium",
        1,
        False,
        frozenset({"events", "websocket"}),
        browser,
        sites=BROWSED,
        lacks=BROWSER,
        only=frozenset({"request", "events", "websocket"}),
        knows_beforehand=False,
        strict=False,
    ),
    Client(
        "Chromium, HTTP/2, TLS",
        2,
        True,
        frozenset({"events"}),
        browser,
        sites=BROWSED,
        only=frozenset({"request", "events"}),
        knows_beforehand=False,
        strict=False,
    ),
    Client("ws", 1, False, frozenset({"websocket"}), script("sockets.mjs"), only=frozenset({"websocket"})),
    Client("ws, TLS", 1, True, frozenset({"websocket"}), script("sockets.mjs"), only=frozenset({"websocket"})),
    Client(
        "websockets",
        1,
        False,
        frozenset({"websocket"}),
        each(lambda way: Websockets(way.url, way.authority)),
        only=frozenset({"websocket"}),
    ),
    Client(
        "websockets, TLS",
        1,
        True,
        frozenset({"websocket"}),
        each(lambda way: Websockets(way.url, way.authority)),
        only=frozenset({"websocket"}),
    ),
    Client("grpcio", 2, False, frozenset(), each(lambda way: Grpc(way.port, way.authority)), only=frozenset({"grpc"})),
    Client(
        "grpcio, TLS", 2, True, frozenset(), each(lambda way: Grpc(way.port, way.authority)), only=frozenset({"grpc"})
    ),
]
