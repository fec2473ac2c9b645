"""Asks servers with the load generator, and holds its counts to the servers' own logs.

python -m counts                       all of it
python -m counts --server nginx --protocol h2+tls --case mix    what has these in its name
"""

import argparse
import sys
import time
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import zip_longest

from common import gate
from common.processes import Scratch, StartError, listens, poll
from suite.sites import scripts

from . import generator, report
from .cases import CASES, LIMIT, STOPPED, Case
from .compare import Verdict, compare
from .generator import Outcome
from .instance import Instance, write_content
from .kinds import KINDS, Kind

AT_ONCE = 8
"""Runs: most of an open loop's time is spent waiting."""
LIMITED = ("closed", "mix", "post", "pipeline")
BEFORE_IT_ENDS = 200
"""Requests that are logged before a server is stopped."""


@dataclass
class Run:
    """One to be done."""

    kind: Kind
    protocol: str
    case: Case
    limit: int | None = None
    instance: Instance | None = None
    outcome: Outcome | None = None
    failure: str = ""

    @property
    def server(self) -> str:
        """The server that it is of; one that is stopped is its alone."""
        if self.case.stops:
            return f"{self.kind.name}-{self.protocol}-stopped".replace("+", "-")
        return f"{self.kind.name}-{self.limit}" if self.limit else self.kind.name

    @property
    def tag(self) -> str:
        """What its URLs say."""
        return f"{self.server}.{self.protocol}.{self.case.name}".replace("+", "-")

    @property
    def name(self) -> str:
        """For people."""
        return f"{self.kind.name}{f'-{self.limit}' if self.limit else ''} | {self.protocol} | {self.case.name}"

    def begin(self, scratch: Scratch) -> Instance:
        """Starts the server."""
        instance = Instance.new(scratch, self.server, self.limit, self.kind.shared)
        self.kind.begin(scratch, instance)
        for port in {instance.port(protocol) for protocol in self.kind.protocols}:
            poll(f"{self.server} to listen", lambda port=port: listens(port) or None)
        return instance

    def do(self, scratch: Scratch) -> None:
        """Runs the generator."""
        try:
            if self.case.stops:
                self.instance = self.begin(scratch)
                self.outcome = generator.run(
                    self.case, self.instance.url(self.protocol), self.tag, scratch.path, lambda: self.end(scratch)
                )
            else:
                self.outcome = generator.run(self.case, self.instance.url(self.protocol), self.tag, scratch.path)
        except (StartError, OSError, ValueError) as error:
            self.failure = f"{type(error).__name__}: {error}"

    def end(self, scratch: Scratch) -> None:
        """Ends the server when it has answered some."""
        poll("requests in the log", lambda: self.instance.logged().count("\n") > BEFORE_IT_ENDS or None)
        for process in self.instance.processes:
            scratch.stop(process)

    def verdict(self) -> Verdict:
        """With what the log has by now."""
        if self.outcome is None:
            return Verdict([self.failure])
        entries = [entry for entry in self.kind.read(self.instance.logged()) if entry.case == self.tag]
        return compare(self.kind, self.case, self.outcome, entries, self.most())

    def most(self) -> int:
        """Requests that a connection may have. Apache and hypercorn count those behind the first."""
        if self.protocol.startswith("h1") and (self.kind.closes or (self.limit and self.kind.name == "haproxy")):
            return 1
        limit = self.limit + (self.kind.name in ("apache", "hypercorn")) if self.limit else 1 << 30
        return min(limit, self.case.per_connection or 1 << 30)


def runs(server: str, protocol: str, case: str) -> list[Run]:
    """Those whose names have these in them."""
    found = []
    for kind in KINDS:
        for one in kind.protocols:
            found += [Run(kind, one, case) for case in (*CASES, STOPPED)]
        for one in kind.limited:
            found += [Run(kind, one, case, LIMIT) for case in CASES if case.name in LIMITED]
    return [r for r in found if server in r.server and r.protocol.startswith(protocol) and case in r.case.name]


def spread(todo: list[Run]) -> list[Run]:
    """In turns, so that what is done at once is not all of one server."""
    turns: dict[str, list[Run]] = defaultdict(list)
    for run in todo:
        turns[run.kind.name].append(run)
    return [run for turn in zip_longest(*turns.values()) for run in turn if run is not None]


def main() -> int:
    """Says what differs."""
    parser = argparse.ArgumentParser(prog="counts")
    for what in ("server", "protocol", "case"):
        parser.add_argument(f"--{what}", default="", help=f"each {what} whose name has this in it")
    chosen = parser.parse_args()

    began = time.monotonic()
    todo = runs(chosen.server, chosen.protocol, chosen.case)
    with Scratch("counts") as scratch, ThreadPoolExecutor(AT_ONCE) as pool:
        gate.certificates(scratch.path)
        for name in ("site.key", "site.pem"):
            (scratch.path / name).chmod(0o644)
        scripts(scratch)
        write_content(scratch)
        first = {run.server: run for run in todo if not run.case.stops}
        instances = dict(zip(first, pool.map(lambda run: run.begin(scratch), first.values()), strict=True))
        for run in todo:
            run.instance = instances.get(run.server)
        print(f"counts: {len(instances)} servers after {time.monotonic() - began:.1f} s", file=sys.stderr)
        list(pool.map(lambda run: run.do(scratch), spread(todo)))
        ended = scratch.ended()
        # What ends in order has written its log to the end.
        scratch.end()
        verdicts = [(run.name, run.kind.name, run.protocol, run.outcome, run.verdict()) for run in todo]
    return report.report(verdicts, ended, time.monotonic() - began)


if __name__ == "__main__":
    sys.exit(main())
