"""Tries every case behind the gate, HAProxy and nginx, and holds the differences to the table.

python -m differential            fails on a difference that is not in differences.toml, and on one that is gone
python -m differential --write    writes docs/differences.md from it
python -m differential --list     prints every difference as the table names them
"""

import argparse
import queue
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from common.processes import Scratch

from . import corpus, proxies, table
from .outcome import Outcome, difference, try_request, try_response
from .requests import REQUESTS
from .responses import RESPONSES

OTHERS = ("haproxy", "nginx")
AGAIN = 2
"""How often a case is tried again that is not as the table says: what a proxy does may depend on which of two things
that come at once it sees first. Each must be found as the table has it."""


def through(lanes: list[proxies.Lane], cases: dict, attempt: Callable) -> dict[str, Outcome]:
    """The outcome of each case behind one proxy, as many at a time as there are lanes."""
    free: queue.SimpleQueue[proxies.Lane] = queue.SimpleQueue()
    for lane in lanes:
        free.put(lane)

    def one(case) -> Outcome:
        lane = free.get()
        try:
            return attempt(lane, case)
        finally:
            free.put(lane)

    with ThreadPoolExecutor(len(lanes)) as pool:
        return dict(zip(cases, pool.map(one, cases.values()), strict=True))


def differences(lanes: dict[str, list[proxies.Lane]], kind: str, cases: dict, attempt: Callable) -> list[str]:
    """Every difference of one kind of cases, as a row of the table."""
    with ThreadPoolExecutor(len(lanes)) as pool:
        tried = {name: pool.submit(through, some, cases, attempt) for name, some in lanes.items()}
        outcomes = {name: future.result() for name, future in tried.items()}
    rows = []
    for case in cases:
        found = {other: difference(outcomes["gate"][case], outcomes[other][case]) for other in OTHERS}
        if found["haproxy"] is not None and found["haproxy"] == found["nginx"]:
            found = {"both": found["haproxy"]}
        rows += [table.row(kind, case, other, *what) for other, what in found.items() if what is not None]
    return rows


def settled(
    known: table.Table, lanes: dict[str, list[proxies.Lane]], kind: str, cases: dict, attempt: Callable
) -> list[str]:
    """As `differences`, where a case that is not as the table says has been tried again, beside no other."""
    rows = differences(lanes, kind, cases, attempt)
    for _ in range(AGAIN):
        doubtful = [case for case in cases if known.of(kind, case) != set(table.of(rows, kind, case))]
        for case in doubtful:
            before = set(table.of(rows, kind, case))
            rows = [row for row in rows if row not in before]
            rows += differences(lanes, kind, {case: cases[case]}, attempt)
    return rows


def versions() -> dict[str, str]:
    """Of the proxies beside, as far as they decide what is in the table."""
    haproxy = subprocess.run([proxies.program("haproxy"), "-v"], capture_output=True, text=True, check=True)
    nginx = subprocess.run([proxies.program("nginx"), "-v"], capture_output=True, text=True, check=True)
    found = {"haproxy": haproxy.stdout.split()[2], "nginx": nginx.stderr.split("/")[1].split()[0]}
    return {name: ".".join(version.split(".")[:2]) for name, version in found.items()}


def main() -> int:
    """Says how many cases there were, and what is not as the table says."""
    parser = argparse.ArgumentParser(prog="differential")
    parser.add_argument("--write", action="store_true", help="write docs/differences.md from the table")
    parser.add_argument("--list", action="store_true", help="print every difference")
    parser.add_argument("--only", default="", help="the cases whose names have this in them")
    arguments = parser.parse_args()
    known = table.Table.read()
    if arguments.write:
        known.write_document()
        return 0

    began = time.monotonic()
    kinds = {
        "request": ({**corpus.requests(), **REQUESTS}, try_request),
        "response": (RESPONSES, try_response),
    }
    rows, counted = [], {}
    with Scratch("differential") as scratch:
        lanes = {
            "gate": proxies.gates(scratch),
            "haproxy": proxies.haproxy(scratch),
            "nginx": proxies.nginx(scratch),
        }
        for kind, (cases, attempt) in kinds.items():
            chosen = {name: case for name, case in cases.items() if arguments.only in name}
            counted[kind] = len(chosen)
            rows += settled(known, lanes, kind, chosen, attempt)
        ended = scratch.ended()
    if arguments.list:
        print("\n".join(rows))
    complaints = ended if arguments.only else ended + known.complaints(rows, versions())
    for complaint in complaints:
        print(complaint, file=sys.stderr)
    counts = " and ".join(f"{number} {kind}s" for kind, number in counted.items())
    print(
        f"differential: {counts} through the gate, HAProxy and nginx: {len(rows)} differences, "
        f"{len(complaints)} complaints, {time.monotonic() - began:.0f} s"
    )
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
