"""Whether an outcome through the gate is what it is without: what may differ is named here, nothing else does."""

import difflib
import hashlib
import re

from .exchange import Outcome

HOP = {"connection", "keep-alive", "transfer-encoding", "alt-svc"}
"""Fields of one connection."""

ADDED_TO_REQUESTS = (
    "via: 1.1 headworks",
    "via: 2.0 headworks",
    "via: 1.0 headworks",
    "x-forwarded-for: ",
    "x-forwarded-host: ",
    "x-forwarded-proto: ",
)
"""What the gate tells servers, as the application echoes it."""

HOP_IN_REQUESTS = ("priority: ", "connection: ", "keep-alive: ", "te: ", "transfer-encoding: ", "expect: 100-continue")
"""Fields of one connection, as the application echoes them; the gate itself says when a client may send its
body. Browsers send `Priority` over HTTP/2 only."""

SESSION = "headworks="
SHOWN = 400
"""Bytes of a body that are compared as text."""

VERSION = re.compile(r"-h(11|2)$")
"""Hypercorn says in which version of HTTP it answers."""

HOST = re.compile(r"\b(localhost|127\.0\.0\.1)(:\d+)?\b")
AGENT = re.compile(r"(Go-http-client/)\d\.\d")
"""Go names itself by the version of HTTP."""


def told(outcome: Outcome, alike: bool) -> list[str]:
    """An outcome as lines, without what may differ; `alike` is whether the server was asked in one version of HTTP."""
    if outcome.error is not None:
        return [f"error: {outcome.error}"]
    first = f"status {outcome.status}"
    if outcome.reason is not None and alike:
        first += f" {outcome.reason}"
    echo = echoed(outcome)
    lines = [first, *fields(outcome, alike)]
    if echo:
        lines += [f"  {line}" for line in echo]
    elif len(outcome.body) <= SHOWN:
        lines.append(f"body {outcome.body!r}")
    else:
        lines.append(f"body {len(outcome.body)} bytes {hashlib.sha1(outcome.body).hexdigest()}")
    lines += [f"trailer {name.lower()}: {value}" for name, value in outcome.trailers]
    # What lets a client send its body the gate may say itself.
    interim = [line for line in outcome.interim if not line.startswith("100 ")]
    lines += [f"before {line}" for line in interim if alike]
    return lines + [f"fact {fact}" for fact in outcome.facts]


def fields(outcome: Outcome, alike: bool) -> list[str]:
    """The fields in order, names in lower case. A server has an order for each version of HTTP."""
    session = any(name.lower() == "set-cookie" and value.startswith(SESSION) for name, value in outcome.fields)
    lines, length = [], []
    for name, value in outcome.fields:
        name = name.lower()
        if name in HOP or (name == "set-cookie" and value.startswith(SESSION)):
            continue
        if session and name == "cache-control":
            value = value.removesuffix("private").removesuffix(", ")
            if not value:
                continue
        if name == "date":
            value = "now"
        if name == "server":
            value = VERSION.sub("", value)
        if name == "content-length":
            # Where it stands among the others is the framing's business.
            length.append("content-length: the body's" if value == str(len(outcome.body)) else f"{name}: {value}")
        else:
            lines.append(f"{name}: {HOST.sub('HOST', value)}")
    if not alike:
        # Stable: values of one name stay in their order, which alone means something (RFC 9110, 5.3).
        lines.sort(key=lambda line: line.split(":")[0])
    return lines + length


def echoed(outcome: Outcome) -> list[str]:
    """What the application says that it was asked, without what the gate tells it, and how the body was framed."""
    if not outcome.body.rpartition(b"\n")[2].startswith(b"body: "):
        return []
    lines = outcome.body.decode("latin-1").split("\n")
    framed = ("content-length: ", f"content-length: {lines[-1].split()[1]}")
    # HTTP/2 has a field for each cookie, HTTP/1 has one for all (RFC 9113, 8.2.3).
    cookies = [line.removeprefix("cookie: ") for line in lines if line.startswith("cookie: ")]
    if cookies:
        lines = [line for line in lines if not line.startswith("cookie: ")]
        lines.insert(1, "cookie: " + "; ".join(cookies))
    dropped = (*ADDED_TO_REQUESTS, *HOP_IN_REQUESTS)
    lines = [AGENT.sub(r"\1", HOST.sub("HOST", line)).replace("https://HOST", "http://HOST") for line in lines]
    return [line for line in lines if not line.startswith(dropped) and line not in framed]


def difference(direct: Outcome, through: Outcome, alike: bool) -> list[str]:
    """The lines that differ, with those around them."""
    lines = [told(outcome, alike) for outcome in (direct, through)]
    return list(difflib.unified_diff(*lines, "direct", "through the gate", lineterm="", n=1))
