"""Node.js, Go and the servers of Python, with the suite's application."""

import sys
from collections.abc import Callable
from pathlib import Path

from common.processes import LOOPBACK, Scratch
from suite.sites import SERVERS, TOOLS, program

from .instance import Instance


def node(scratch: Scratch, instance: Instance) -> None:
    """A process for each of HTTP/1, HTTP/2 in the clear, and TLS with both."""
    environment = {"WORLD_DIR": str(instance.place), "WORLD_LOG": str(instance.log)}
    if instance.limit:
        environment["WORLD_LIMIT"] = str(instance.limit)
    script = [program("node", "nodejs"), scratch.path / "scripts" / "node_app.mjs"]
    keys = [instance.certificate, instance.key]
    for version, port, more in (("1", instance.plain, []), ("2", instance.prior, []), ("2", instance.tls, keys)):
        instance.start(scratch, [*script, version, str(port), *more], port, env=environment)


def go(scratch: Scratch, instance: Instance) -> None:
    """One process has all."""
    environment = {"WORLD_DIR": str(instance.place), "WORLD_LOG": str(instance.log)}
    command = [TOOLS / "server", str(instance.plain), str(instance.tls), instance.certificate, instance.key]
    instance.start(scratch, command, instance.plain, env=environment)


def module(scratch: Scratch, instance: Instance, port: int, *words: str | Path) -> Path:
    """A server of a Python package; gives the file with what it says."""
    environment = {"WORLD_DIR": str(instance.place)}
    return instance.start(scratch, [sys.executable, "-m", *words], port, cwd=SERVERS, env=environment)


GUNICORN = "%(m)s %({raw_uri}e)s %(s)s %(B)s %({remote_port}e)s %(H)s done"


def gunicorn(*worker: str) -> Callable:
    """With a kind of workers; the threads speak HTTP/2."""

    def start(scratch: Scratch, instance: Instance) -> None:
        words = ["gunicorn", "--log-level", "warning", "--access-logfile", instance.log, "--access-logformat", GUNICORN]
        words += [*worker, "--no-control-socket"]
        keys = ["--certfile", instance.certificate, "--keyfile", instance.key]
        both = ["--http-protocols", "h2,h1"] if "gthread" in worker else []
        prior = [*both, "--http2-cleartext", "prior-knowledge"]
        ways = [(instance.plain, []), (instance.tls, keys + both)]
        ways += [(instance.prior, prior)] if both else []
        for port, more in ways:
            module(scratch, instance, port, *words, "--bind", f"{LOOPBACK}:{port}", *more, "flask_app:app")

    return start


def uvicorn(scratch: Scratch, instance: Instance) -> None:
    """A process in the clear and one with TLS; the log is what they say."""
    keys = ["--ssl-certfile", instance.certificate, "--ssl-keyfile", instance.key]
    for port, more in ((instance.plain, []), (instance.tls, keys)):
        words = ["uvicorn", "--host", LOOPBACK, "--port", str(port), "--no-use-colors", *more, "asgi_app:app"]
        instance.logs.append(module(scratch, instance, port, *words))


HYPERCORN = """\
bind = "{loopback}:{tls}"
insecure_bind = "{loopback}:{plain}"
certfile = "{certificate}"
keyfile = "{key}"
accesslog = "{log}"
access_log_format = "%(m)s %(Uq)s %(s)s %(B)s %(h)s %(H)s done"
keep_alive_max_requests = {limit}
"""


def hypercorn(scratch: Scratch, instance: Instance) -> None:
    """One process has all."""
    file = instance.write("hypercorn.toml", HYPERCORN, limit=instance.limit or 100_000)
    module(scratch, instance, instance.plain, "hypercorn", "--config", file, "asgi_app:app")
