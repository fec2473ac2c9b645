"""What the generator is asked to do of each server, and what is due to come of it."""

import math
from dataclasses import dataclass, field

BODY = 10_000
LIMIT = 7
"""Requests after which a server that is told to closes a connection."""
SESSIONS, PAGES = 300, 20
"""Of a run in whose middle the server ends."""


@dataclass(frozen=True)
class Case:
    """A run. `{tag}` in what is asked for becomes what tells its requests from others in the log."""

    name: str
    options: str
    path: str = ""
    workload: str = ""
    requests: int = 0
    """How many the generator must have counted; nothing where it is not known before."""
    methods: dict[str, int] = field(default_factory=lambda: {"GET": 1})
    """Shares of methods."""
    stops: bool = False
    """Whether the server is ended in the middle."""
    per_connection: int | None = None
    """Requests after which the generator closes a connection."""
    window: float = math.inf
    """Seconds: what is wanted later does not count, and the load is kept up while what came before is followed."""


MIX = """\
kind = "sessions"

[[page]]
url = "/bytes/1000?case={tag}"
embedded = ["/bytes/10?case={tag}", "/bytes/100000?case={tag}"]

[[page]]
url = "/bytes/1000?head&case={tag}"
method = "HEAD"

[[page]]
url = "/status/404?case={tag}"
expect = 404

[[page]]
url = "/status/500?case={tag}"
expect = 500

[[page]]
url = "/status/204?case={tag}"
expect = 204

[[page]]
url = "/echo?case={tag}"
body = "a=b"
"""

LAST = 'kind = "sessions"\n' + "".join(
    f'\n[[page]]\nurl = "/bytes/1000?id=${{session}}.{page}&case={{tag}}"\n' for page in range(PAGES)
)

THOUSAND = "/bytes/1000?case={tag}"

CASES = [
    Case("closed", "-c 8 -n 400", THOUSAND, requests=400),
    Case("open", "--rate 300 --duration 2s --arrivals constant", THOUSAND, requests=600, window=2.0),
    Case("large", "-c 4 -n 60 --engine epoll", "/bytes/100000?case={tag}", requests=60),
    Case("mix", "-c 4 -n 30", workload=MIX, requests=240, methods={"GET": 6, "HEAD": 1, "POST": 1}),
    Case("post", f"-c 4 -n 100 -B {'b' * BODY}", "/echo?case={tag}", requests=100, methods={"POST": 1}),
    Case("three", "-c 4 -n 100 --requests-per-connection 3", THOUSAND, requests=100, per_connection=3),
    Case("pipeline", "-c 2 -n 200 --pipeline 4", THOUSAND, requests=200),
]

STOPPED = Case("stopped", f"-c 8 -n {SESSIONS}", workload=LAST, stops=True)
