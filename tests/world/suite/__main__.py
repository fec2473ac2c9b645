"""Every client asks every server for everything, directly and through the gate, and gets the same.

python -m suite                        all of it
python -m suite --site go --client curl --scenario range    what has these in its name
python -m suite --keep                 leaves servers and gates running until Enter is pressed
"""

import argparse
import sys
import time
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

from common import gate
from common.processes import Scratch

from .clients import CLIENTS, Ask, Client
from .compare import difference
from .exchange import Outcome, Scenario
from .known import Known
from .report import Result, report
from .scenarios import SCENARIOS
from .sites import SITES, Site, scripts

ACCIDENTS = 8


def asks(client: Client, site: Site, authority: Path, scenarios: list[Scenario]) -> list[tuple[Ask, Ask]]:
    """What this client asks this site, directly and through the gate."""
    ways = client.ways(site, authority)
    if ways is None:
        return []
    plain = "".join(letter for letter in client.name if letter.isalnum())
    pairs = []
    for scenario in scenarios:
        if client.does(scenario) and site.knows(scenario):
            direct, through = (
                Ask(way, scenario, f"{site.name}-{plain}-{scenario.name}-{what}")
                for way, what in zip(ways, "dg", strict=True)
            )
            pairs.append((direct, through))
    return pairs


def compare(client: Client, pairs: list[tuple[Ask, Ask]]) -> list[Result]:
    """Asks, and compares."""
    began = time.monotonic()
    asked = [pair[0] for pair in pairs] + [pair[1] for pair in pairs]
    outcomes = {ask.identity: outcome for ask, outcome in client.run(asked)}
    results = []
    for direct, through in pairs:
        site, scenario = direct.way.site, direct.scenario
        without, behind = (outcomes[ask.identity] for ask in (direct, through))
        alike = direct.way.version == through.way.version == site.upstream
        lines = difference(without, behind, alike)
        if wrong := unlike(scenario, client, without):
            lines = [f"directly: {wrong}"]
        results.append(Result(site.name, client.name, scenario.name, lines))
    print(f"  {client.name}: {len(pairs)} in {time.monotonic() - began:.1f} s", file=sys.stderr, flush=True)
    return results


def once_more(results: list[Result], work: dict[str, list[tuple[Ask, Ask]]], known: Known) -> list[Result]:
    """Asks again, twice, what differed where nothing is known to, now that nothing else runs: a machine that is busy
    with all of it at once breaks off some exchanges by itself. What is alike both times is listed and does not count.
    Where many differ it is no accident."""
    differing = [result for result in results if result.lines and known.pattern(result.case) is None]
    if len(differing) > ACCIDENTS:
        return results
    clients = {client.name: client for client in CLIENTS}
    settled = []
    for result in results:
        if result in differing:
            pairs = [
                pair
                for pair in work[result.client]
                if (pair[0].way.site.name, pair[0].scenario.name) == (result.site, result.scenario)
            ]
            tries = [
                [replace(ask, identity=f"{ask.identity}{turn}") for ask in pair] for turn in "ab" for pair in pairs
            ]
            if not any(one.lines for pair in tries for one in compare(clients[result.client], [tuple(pair)])):
                result = replace(result, lines=[], once=result.lines)
        settled.append(result)
    return settled


def unlike(scenario: Scenario, client: Client, without: Outcome) -> str | None:
    """What makes an outcome without the gate useless to compare with."""
    if without.error or (client.strict and without.status != scenario.status):
        return f"{without.error or without.status}, where {scenario.status} is meant"
    if scenario.kind in ("events", "upload") and (
        len(without.facts) != 3 or any("not" in one for one in without.facts)
    ):
        return f"does not stream: {without.facts}"
    return None


def main() -> int:
    """Says what differs."""
    parser = argparse.ArgumentParser(prog="suite")
    for what in ("site", "client", "scenario"):
        parser.add_argument(f"--{what}", default="", help=f"each {what} whose name has this in it")
    parser.add_argument("--keep", action="store_true", help="leave everything running until Enter is pressed")
    parser.add_argument("--show", type=int, default=60, help="how many differences are shown in full")
    chosen = parser.parse_args()

    began = time.monotonic()
    sites = [site for site in SITES if chosen.site in site.name]
    clients = [client for client in CLIENTS if chosen.client in client.name]
    scenarios = [scenario for scenario in SCENARIOS if chosen.scenario in scenario.name]
    with Scratch("world") as scratch:
        authority, certificate, key = gate.certificates(scratch.path)
        scripts(scratch)
        with ThreadPoolExecutor(4) as pool:
            list(pool.map(lambda site: site.run(scratch, certificate, key), sites))
        print(f"world: {len(sites)} servers and gates after {time.monotonic() - began:.1f} s", file=sys.stderr)
        work = defaultdict(list)
        for client in clients:
            for site in sites:
                work[client.name] += asks(client, site, authority, scenarios)
        with ThreadPoolExecutor(len(clients) or 1) as pool:
            busy = [client for client in clients if work[client.name]]
            results = [result for some in pool.map(lambda one: compare(one, work[one.name]), busy) for result in some]
        known = Known.read()
        results = once_more(results, work, known)
        ended = scratch.ended()
        if chosen.keep:
            for site in sites:
                print(f"{site.name}: {site.direct}, gate {site.clear} and {site.secure}, {site.here}")
            input()
    everything = not (chosen.site or chosen.client or chosen.scenario)
    return report(results, ended, known, everything, chosen.show, time.monotonic() - began)


if __name__ == "__main__":
    sys.exit(main())
