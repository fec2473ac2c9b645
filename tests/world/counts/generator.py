"""The load generator: runs it, and reads its summary and its rows."""

import csv
import json
import shlex
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from common import gate
from common.processes import StartError

from .cases import Case

ENOUGH = 60
"""Seconds after which a run counts as hung."""
NOT_VALID = 4
"""What it exits with where it and not the server set the figures, as on a machine that is busy; counts hold anyway."""


@dataclass(frozen=True)
class Row:
    """A request, as the generator has it."""

    url: str
    status: int
    size: int
    error: str
    detail: str
    connection: str
    reused: bool
    intended: float
    session: str

    @property
    def identity(self) -> str:
        """The URL as the server has it."""
        return self.url.replace("${session}", self.session)


@dataclass(frozen=True)
class Outcome:
    """What came of a run. `summary` has figures of what was wanted in the window, `rows` have all that was asked."""

    command: str
    summary: dict
    rows: list[Row]


def run(case: Case, url: str, tag: str, place: Path, meanwhile: Callable[[], None] = lambda: None) -> Outcome:
    """Runs it to its end; `meanwhile` is called when it has begun."""
    table = place / f"{tag}.csv"
    command = [gate.BINARY, "load", url + case.path.replace("{tag}", tag), *shlex.split(case.options)]
    if case.workload:
        workload = place / f"{tag}.toml"
        workload.write_text(case.workload.replace("{tag}", tag))
        command += ["--workload", workload]
    version = "2" if ".h2" in tag else "1.1"
    command += ["--http", version, "--cacert", place / "ca.pem", "--json", "--quiet", "--requests-csv", table]
    words = [str(word) for word in command]
    process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    try:
        meanwhile()
        out, said = process.communicate(timeout=ENOUGH)
    except subprocess.TimeoutExpired:
        raise StartError(f"still runs after {ENOUGH} s: {shlex.join(words)}") from None
    finally:
        process.kill()
    shown = shlex.join(word if len(word) < 200 else word[:10] + "..." for word in words)
    if process.returncode not in (0, NOT_VALID):
        raise StartError(f"ended with {process.returncode}: {shown}\n{said.decode(errors='replace')}")
    return Outcome(shown, json.loads(out), rows(table))


def rows(table: Path) -> list[Row]:
    """Of its file with a line for each request."""
    with table.open() as file:
        return [
            Row(
                one["url"],
                int(one["status"] or 0),
                int(one["bytes"]),
                one["error"],
                one["detail"],
                one["connection"],
                one["reused"] == "true",
                float(one["intended"]),
                one["session"],
            )
            for one in csv.DictReader(file)
        ]
