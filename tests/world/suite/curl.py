"""curl, a process for each request: HTTP/1.0, HTTP/1.1, HTTP/2 with TLS and without."""

import subprocess
import tempfile
from pathlib import Path

from common.http1 import End, Message, Reader, Silence

from .exchange import Outcome, Scenario
from .wire1 import PATIENCE, outcome

VERSIONS = {"1.0": ["--http1.0"], "1.1": ["--http1.1"], "2": ["--http2-prior-knowledge"], "2-tls": ["--http2"]}


class Curl:
    """curl for one server."""

    def __init__(self, url: str, authority: Path | None, here: Path, version: str):
        self.url, self.here = url, here
        self.options = [*VERSIONS[version], *(["--cacert", str(authority)] if authority else [])]
        self.old = version == "1.0"

    def command(self, scenario: Scenario, body: Path | None) -> list[str]:
        """The command line, its output raw with all heads."""
        words = ["curl", "--silent", "--show-error", "--raw", "--include", "--path-as-is", "--max-time", str(PATIENCE)]
        words += [*self.options, "--noproxy", "*"]
        if scenario.method == "HEAD":
            words.append("--head")
        else:
            words += ["--request", scenario.method]
        for name, value in scenario.headers:
            words += ["--header", f"{name}: {value}" if value else f"{name};"]
        if body is not None:
            words += ["--data-binary", f"@{body}"]
            if not any(name == "Content-Type" for name, _ in scenario.headers):
                words += ["--header", "Content-Type: text/plain"]
        if scenario.chunked:
            words += ["--header", "Transfer-Encoding: chunked"]
        if scenario.path == "*":
            words += ["--request-target", "*"]
            return [*words, self.url]
        return [*words, self.url + scenario.path]

    def run(self, scenario: Scenario, identity: str) -> Outcome:
        """One request."""
        with tempfile.NamedTemporaryFile(dir=self.here) as file:
            if scenario.body is not None:
                file.write(b"b" * scenario.body)
                file.flush()
            command = self.command(scenario, Path(file.name) if scenario.body is not None else None)
            words = [word.encode("latin-1") for word in command]
            done = subprocess.run(words, capture_output=True, timeout=PATIENCE + 5, check=False)
        if done.returncode:
            return Outcome.failed(done.stderr.decode(errors="replace").strip() or f"exit {done.returncode}")
        try:
            return self.read(done.stdout, scenario)
        except (End, Silence) as error:
            return Outcome.failed(error)

    def read(self, output: bytes, scenario: Scenario) -> Outcome:
        """Reads it as from a connection that ends; over HTTP/2 the status line is curl's own."""
        reader = Output(output)
        response: Message = reader.response("HEAD" if scenario.method == "HEAD" else "GET")
        found = outcome(response)
        if response.start.startswith(b"HTTP/2"):
            found.reason = None
        return found


class Output(Reader):
    """All that there is."""

    def __init__(self, data: bytes):
        self.buffer = data

    def _more(self) -> None:
        raise End(reset=False)
