"""The differences that are intended, each with its reason: differences.toml, and the document made of it."""

import tomllib
from dataclasses import dataclass
from pathlib import Path

from common.processes import ROOT

FILE = Path(__file__).with_name("differences.toml")
DOCUMENT = ROOT / "docs" / "differences.md"
NAMES = {"haproxy": "HAProxy", "nginx": "nginx", "both": "both"}


def row(kind: str, case: str, other: str, gate: str, theirs: str) -> str:
    """A difference as the table has it."""
    return f"{kind} {case} | {other} | {gate} | {theirs}"


def of(rows: list[str], kind: str, case: str) -> list[str]:
    """Those of one case."""
    return [line for line in rows if line.startswith(f"{kind} {case} | ")]


@dataclass(frozen=True)
class Group:
    """Differences with one reason."""

    title: str
    reason: str
    rows: list[str]


@dataclass(frozen=True)
class Table:
    """All of it, and the versions of the proxies that it is true of."""

    beside: dict[str, str]
    groups: list[Group]

    @classmethod
    def read(cls) -> "Table":
        """From the file."""
        read = tomllib.loads(FILE.read_text())
        return cls(read["beside"], [Group(**group) for group in read["difference"]])

    @property
    def rows(self) -> list[str]:
        """Those of all groups."""
        return [line for group in self.groups for line in group.rows]

    def of(self, kind: str, case: str) -> set[str]:
        """What it has of a case."""
        return set(of(self.rows, kind, case))

    def complaints(self, found: list[str], versions: dict[str, str]) -> list[str]:
        """What is not in the table, what is in it and does not occur, what was not written anew."""
        listed = self.rows
        said = []
        if versions != self.beside:
            said.append(f"the table is for {self.beside}, here is {versions}: look at what is new, and change it")
        said += [f"not in the table: {row}" for row in found if row not in set(listed)]
        said += [f"in the table, and not so: {row}" for row in listed if row not in set(found)]
        said += [f"twice in the table: {row}" for row in sorted(set(listed)) if listed.count(row) > 1]
        if not DOCUMENT.exists() or DOCUMENT.read_text() != self.document():
            said.append("docs/differences.md is not what the table says; write it: make differences")
        return said

    def write_document(self) -> None:
        """The table, for people."""
        DOCUMENT.write_text(self.document())

    def document(self) -> str:
        """Markdown."""
        beside = " and ".join(f"{NAMES[name]} {version}" for name, version in self.beside.items())
        parts = [INTRODUCTION.format(beside=beside)]
        for group in self.groups:
            parts.append(
                f"\n## {group.title}\n\n{group.reason}\n\n| case | beside | gate | there |\n| --- | --- | --- | --- |\n"
            )
            for line in group.rows:
                case, other, gate, theirs = line.split(" | ")
                parts.append(f"| {case} | {NAMES[other]} | {cell(gate)} | {cell(theirs)} |\n")
        return "".join(parts)


def cell(words: str) -> str:
    """Facts as code, so that Markdown reads nothing into them."""
    return words if words == "-" else f"`{words}`"


INTRODUCTION = """\
# The gate beside HAProxy and nginx

Generated from `tests/world/differential/differences.toml`; `make test` tries every case anew and fails when a difference is
not listed here, or is listed and gone. Requests (those of `crates/gate/tests/corpus` and those in
`tests/world/differential/requests.py`) and responses (`responses.py` there) go as bytes through the gate, {beside},
each with its defaults, in front of a server that keeps what reaches it.

Left out is what no receiver tells apart, and what the proxies add in their own words: upper and lower case in names, the order of fields with
different names, fields about the connection (their meaning is compared), `X-Forwarded-*` and `Via` with the proxy's own value,
`Date` and `Server` where the server sends none, the cookie of the gate's session, and what a page of a proxy's own (502) says. Behind each
request stands another, which shows where a proxy takes it to end.

In the columns stand the facts that are true of one and not of the other. Of a request: the statuses that the client was sent, then `end`, `open` or
`reset`; what the server was asked (`passes`, where the other proxy passed nothing). Of a response: status and reason, fields, how the body was
framed and what it was, trailers, interim responses (`before`), whether it was cut off and what the next request got. `-` is nothing.
"""
