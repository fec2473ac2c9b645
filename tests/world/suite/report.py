"""What came of it, as a table and as differences."""

import sys
from collections import defaultdict
from dataclasses import dataclass, field

from .known import Known

LINES = 40


@dataclass(frozen=True)
class Result:
    """Of one scenario; `lines` say what differs, `once` what did the first time and not again."""

    site: str
    client: str
    scenario: str
    lines: list[str]
    once: list[str] = field(default_factory=list)

    @property
    def case(self) -> str:
        """As `known.toml` names it."""
        return f"{self.site} | {self.client} | {self.scenario}"


def report(results: list[Result], ended: list[str], known: Known, everything: bool, shown: int, seconds: float) -> int:
    """Prints, and gives the exit code."""
    differing = [result for result in results if result.lines]
    new = [result for result in differing if known.pattern(result.case) is None]
    table(results)
    for result in new[:shown]:
        print(f"\n{result.case}")
        print("\n".join(f"    {line}" for line in result.lines[:LINES]))
    if len(new) > shown:
        print(f"\nand {len(new) - shown} more:", *(result.case for result in new[shown:]), sep="\n    ")
    listed = [(result.case, known.pattern(result.case)) for result in results if not result.lines]
    passing = [case for case, pattern in listed if pattern is not None and pattern not in known.sometimes]
    if everything:
        met = {known.pattern(result.case) for result in results}
        passing += [f"{pattern} (no such case)" for pattern in known.cases if pattern not in met]
    for case in passing:
        print(f"known to differ, and passes; take it out of known.toml: {case}", file=sys.stderr)
    for result in results:
        if result.once:
            print(f"\n{result.case}: differed once, and not in two more tries")
            print("\n".join(f"    {line}" for line in result.once[:LINES]))
    for line in ended:
        print(line, file=sys.stderr)
    print(
        f"\nworld: {len(results)} exchanges with and without the gate, {len(new)} differ, "
        f"{len(differing) - len(new)} are known to, {seconds:.0f} s"
    )
    return 1 if new or passing or ended or not results else 0


def table(results: list[Result]) -> None:
    """Servers by clients: how many were compared, and how many of these differ."""
    cells: dict[tuple[str, str], list[int]] = defaultdict(lambda: [0, 0])
    for result in results:
        cell = cells[result.client, result.site]
        cell[0] += 1
        cell[1] += bool(result.lines)
    sites = list(dict.fromkeys(result.site for result in results))
    widest = max((len(client) for client, _ in cells), default=0)
    print(" " * widest, *(f"{site[:9]:>9}" for site in sites))
    for client in dict.fromkeys(result.client for result in results):
        row = []
        for site in sites:
            tried, wrong = cells.get((client, site), (0, 0))
            row.append("-" if not tried else f"{tried}" if not wrong else f"{wrong}!/{tried}")
        print(f"{client:<{widest}}", *(f"{cell:>9}" for cell in row))
