"""Clients that are libraries of Python: requests and httpx."""

import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import requests
import urllib3

from .exchange import Outcome, Scenario
from .scenarios import PIECE
from .wire1 import PATIENCE, seen

CHUNK = 64 * 1024


class Requests:
    """requests, over HTTP/1.1."""

    def __init__(self, url: str, authority: Path | None, here: Path):
        self.url, self.authority, self.here = url, authority, here
        self.session = requests.Session()

    def run(self, scenario: Scenario, identity: str) -> Outcome:
        """One request."""
        facts: list[str] = []
        try:
            response = self.session.request(
                scenario.method,
                address(self.url, scenario, identity),
                headers={name: value.encode("latin-1") for name, value in scenario.headers},
                data=content(scenario, identity, self.here, facts),
                allow_redirects=False,
                timeout=PATIENCE,
                verify=str(self.authority) if self.authority else True,
                stream=True,
            )
            if scenario.kind == "events":
                lines = (line.decode() for line in response.iter_lines(chunk_size=1))
                return Outcome(response.status_code, facts=acknowledged(lines, self.here, identity))
            body = response.raw.read(decode_content=False)
        except (requests.RequestException, urllib3.exceptions.HTTPError) as error:
            return Outcome.failed(type(error).__name__)
        if scenario.kind != "request":
            return Outcome(response.status_code, body=body, facts=facts)
        fields = list(response.raw.headers.items())
        return Outcome(response.status_code, response.reason, fields, body)


class Httpx:
    """httpx, over HTTP/1.1 or HTTP/2."""

    def __init__(self, url: str, authority: Path | None, here: Path, version: int):
        verify = httpx.create_ssl_context(verify=str(authority)) if authority else True
        self.url, self.here = url, here
        self.client = httpx.Client(http1=version == 1, http2=version == 2, verify=verify, timeout=PATIENCE)

    def run(self, scenario: Scenario, identity: str) -> Outcome:
        """One request."""
        facts: list[str] = []
        try:
            with self.client.stream(
                scenario.method,
                address(self.url, scenario, identity),
                headers=[(name.encode(), value.encode("latin-1")) for name, value in scenario.headers],
                content=content(scenario, identity, self.here, facts),
            ) as response:
                if scenario.kind == "events":
                    return Outcome(response.status_code, facts=acknowledged(response.iter_lines(), self.here, identity))
                body = b"".join(response.iter_raw())
        except httpx.HTTPError as error:
            return Outcome.failed(type(error).__name__)
        if scenario.kind != "request":
            return Outcome(response.status_code, body=body, facts=facts)
        fields = [(name.decode("latin-1"), value.decode("latin-1")) for name, value in response.headers.raw]
        reason = response.reason_phrase if response.http_version == "HTTP/1.1" else None
        return Outcome(response.status_code, reason, fields, body)


def address(url: str, scenario: Scenario, identity: str) -> str:
    """What is asked."""
    return url + scenario.path + (identity if scenario.kind in ("events", "upload") else "")


def content(scenario: Scenario, identity: str, here: Path, facts: list[str]) -> bytes | Iterator[bytes] | None:
    """The body; an upload's pieces wait for one another."""
    if scenario.kind == "upload":
        return pieces(scenario, identity, here, facts)
    if scenario.chunked:
        return (b"b" * min(CHUNK, scenario.body - sent) for sent in range(0, scenario.body, CHUNK))
    return None if scenario.body is None else b"b" * scenario.body


def pieces(scenario: Scenario, identity: str, here: Path, facts: list[str]) -> Iterator[bytes]:
    """A piece, and the next one when the server has all but the last."""
    for number in range(1, scenario.body + 1):
        yield b"b" * PIECE
        if number > 1:
            facts.append(seen(here / f"{identity}.{(number - 1) * PIECE}", facts))


def acknowledged(lines: Iterator[str], here: Path, identity: str) -> list[str]:
    """Says of each event that it is there; the server sends the next one only then."""
    found: list[str] = []
    end = time.monotonic() + PATIENCE
    for line in lines:
        if line.startswith("data: "):
            (here / f"{identity}.{len(found)}").touch()
            found.append(line)
        if time.monotonic() > end:
            break
    return found
