"""What the generator has counted against what the server has logged: each line says what differs."""

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field

from .cases import Case
from .generator import Outcome, Row
from .kinds import Kind
from .logs import Entry

SHOWN = 10


@dataclass
class Verdict:
    """What differs, if anything, and how much was compared."""

    lines: list[str] = field(default_factory=list)
    requests: int = 0
    connections: int = 0
    unsure: int = 0
    """Requests that the server answered and the generator has as errors, with the reason."""
    unlogged: int = 0
    """Responses that a server that ended had no time to log."""
    again: int = 0
    """Requests that the server answered more than once: the first answer did not arrive, and they were sent again."""

    def same(self, what: str, generator: object, log: object) -> None:
        """Both figures, if they are not one."""
        if generator != log:
            self.lines.append(f"{what}: {generator} by the generator, {log} by the log")


def compare(kind: Kind, case: Case, outcome: Outcome, entries: list[Entry], most: int) -> Verdict:
    """A run with the requests that the log has of it; `most` of them may be on one connection."""
    verdict = Verdict()
    window = [row for row in outcome.rows if row.intended < case.window]
    own_figures(verdict, case, outcome.summary, window)
    if case.stops:
        stopped(verdict, outcome, entries)
    else:
        whole(verdict, case, outcome, entries)
        connections(verdict, kind, outcome, entries, most)
    verdict.requests = len(entries)
    return verdict


def own_figures(verdict: Verdict, case: Case, summary: dict, window: list[Row]) -> None:
    """The summary against the generator's own rows: all that comes after is about either."""
    answered = [row for row in window if not row.error]
    errors = Counter(row.error for row in window if row.error not in ("", "censored"))
    found = {
        "requests": len(window),
        "responses": len(answered),
        "bytes": sum(row.size for row in window),
        "status": count(str(row.status) for row in answered),
        "errors": dict(errors),
        "opened": sum(not row.reused and row.error != "connect" for row in window),
    }
    told = {
        **{key: summary[key] for key in ("requests", "responses", "bytes", "status")},
        "errors": {kind: number for kind, number in summary["errors"].items() if number},
        "opened": summary["connections"]["opened"],
    }
    for key, figure in found.items():
        if told[key] != figure:
            verdict.lines.append(f"{key}: {told[key]} in the summary, {figure} in its rows")
    if case.requests and summary["requests"] != case.requests:
        verdict.lines.append(f"requests: {summary['requests']} in the summary, {case.requests} were asked for")
    if not case.stops and errors:
        verdict.lines.append(f"errors, where none is due: {summary['error_details']}")


def whole(verdict: Verdict, case: Case, outcome: Outcome, entries: list[Entry]) -> None:
    """A run without faults: the same requests with the same statuses and bytes, each once."""
    # What was under way when the run was over has begun after the window; the server may have answered it or not.
    cut = sum(row.error == "censored" for row in outcome.rows)
    answered = [row for row in outcome.rows if not row.error]
    complete = [entry for entry in entries if entry.complete]
    has_sizes = all(entry.size is not None for entry in complete)
    mine, theirs = (
        Counter((one.url, one.status, one.size if has_sizes else None) for one in some) for some in (answered, complete)
    )
    spare = theirs.total() - mine.total()
    if mine - theirs or not 0 <= spare <= cut or len(entries) - len(answered) > cut:
        verdict.same("requests by URL, status and bytes", dict(mine), dict(theirs))
        verdict.same("requests in all", len(answered), len(entries))
        verdict.lines += [f"logged as cut: {entry}" for entry in entries if not entry.complete][:SHOWN]
    elif spare:
        verdict.same("methods", sorted(case.methods), sorted({entry.method for entry in complete}))
    else:
        shares = sum(case.methods.values())
        due = {method: share * len(answered) // shares for method, share in case.methods.items()}
        verdict.same("methods", due, dict(Counter(entry.method for entry in complete)))


def count(some: Iterable[str]) -> dict[str, int]:
    """How often each is there."""
    return dict(sorted(Counter(some).items()))


def connections(verdict: Verdict, kind: Kind, outcome: Outcome, entries: list[Entry], most: int) -> None:
    """How many there were, and how many requests each had: `most` may be."""
    answered = [row for row in outcome.rows if not row.error]
    mine = Counter(row.connection for row in answered)
    theirs = Counter(entry.connection for entry in entries)
    loads = list(theirs.values())
    if not kind.numbered:
        # A port that comes again is another connection.
        loads = [min(most, load - begun) for load in loads for begun in range(0, load, most)]
    verdict.connections = len(loads)
    if len(entries) == len(answered):
        verdict.same("connections by how many requests they had", by_load(mine.values()), by_load(loads))
    elif not 0 <= len(loads) - len(mine) <= len(entries) - len(answered):
        verdict.same("connections", len(mine), len(loads))
    if loads and max(loads) > most:
        verdict.lines.append(f"a connection with {max(loads)} requests, where {most} may be")


def by_load(loads: Iterable[int]) -> dict[int, int]:
    """How many connections had so many requests."""
    return dict(sorted(Counter(loads).items()))


def stopped(verdict: Verdict, outcome: Outcome, entries: list[Entry]) -> None:
    """A run in whose middle the server ended, request by request, as each has an URL of its own. Each response that the
    generator has is logged as answered to the end, with its status and bytes, except the last of a connection: a server
    may die between the response and the line. Each request that is logged as answered to the end is a response for the
    generator, or an error: the connection broke before it was here, or then the next could not be had (`connect`). None
    is logged that was not sent."""
    logged: dict[str, list[Entry]] = defaultdict(list)
    for entry in entries:
        logged[entry.url].append(entry)
    wrong = []
    answered = [row for row in outcome.rows if not row.error]
    last = {row.connection: row for row in sorted(answered, key=lambda row: row.intended)}
    for row in outcome.rows:
        of = logged.pop(row.identity, [])
        complete = [entry for entry in of if entry.complete]
        if not row.error:
            verdict.again += len(of) > 1
            if not of and last[row.connection] is row:
                verdict.unlogged += 1
            elif not any(entry.status == row.status and entry.size in (None, row.size) for entry in complete):
                wrong.append(f"a response for the generator, not for the log: {row}, {of}")
        elif complete:
            verdict.unsure += 1
            if row.error not in ("reset", "body", "protocol", "connect"):
                wrong.append(f"answered by the log, and no broken connection for the generator: {row}, {of}")
    wrong += [f"logged, and not sent: {of}" for of in logged.values()]
    verdict.lines += wrong[:SHOWN]
    if len(wrong) > SHOWN:
        verdict.lines.append(f"and {len(wrong) - SHOWN} more")
    if not answered or len(answered) == len(outcome.rows):
        verdict.lines.append(f"not ended in the middle: {len(answered)} of {len(outcome.rows)} were answered")
    verdict.connections = len({entry.connection for entry in entries})
