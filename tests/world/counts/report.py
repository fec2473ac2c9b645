"""What came of it, as a table and as differences."""

import sys
from collections import defaultdict

from .compare import Verdict
from .generator import Outcome
from .kinds import ALL

Judged = tuple[str, str, str, Outcome | None, Verdict]


def report(judged: list[Judged], ended: list[str], seconds: float) -> int:
    """Prints, and gives the exit code."""
    table(judged)
    for name, _, _, outcome, verdict in judged:
        if verdict.lines:
            print(f"\n{name}")
            print("\n".join(f"    {line}" for line in ([outcome.command] if outcome else []) + verdict.lines))
    for line in ended:
        print(line, file=sys.stderr)
    verdicts = [verdict for *_, verdict in judged]
    differ = sum(bool(verdict.lines) for verdict in verdicts)
    print(
        f"\ncounts: {len(judged)} runs, {sum(v.requests for v in verdicts)} requests and "
        f"{sum(v.connections for v in verdicts)} connections in the logs, {differ} differ, {seconds:.0f} s; as servers "
        f"ended {sum(v.unsure for v in verdicts)} answers did not arrive and are errors, "
        f"{sum(v.again for v in verdicts)} were asked for again, {sum(v.unlogged for v in verdicts)} were not logged"
    )
    return 1 if differ or ended or not judged else 0


def table(judged: list[Judged]) -> None:
    """Servers by protocols: how many runs, of them how many differ, and the requests in the log."""
    cells: dict[tuple[str, str], list[int]] = defaultdict(lambda: [0, 0, 0])
    for _, server, protocol, _, verdict in judged:
        cell = cells[server, protocol]
        cell[0] += 1
        cell[1] += bool(verdict.lines)
        cell[2] += verdict.requests
    widest = max((len(server) for server, _ in cells), default=0)
    print("runs, and requests in the log".ljust(widest))
    print(" " * widest, *(f"{protocol:>14}" for protocol in ALL))
    for server in dict.fromkeys(server for server, _ in cells):
        row = []
        for protocol in ALL:
            tried, wrong, requests = cells.get((server, protocol), (0, 0, 0))
            row.append("-" if not tried else f"{f'{wrong}!/' if wrong else ''}{tried} {requests:>6}")
        print(f"{server:<{widest}}", *(f"{cell:>14}" for cell in row))
