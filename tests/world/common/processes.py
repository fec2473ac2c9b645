"""Processes in a scratch directory, on free ports of 127.0.0.1; all are ended when it is left."""

import contextlib
import itertools
import os
import signal
import socket
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

LOOPBACK = "127.0.0.1"
PATIENCE = 30.0
"""Seconds until what is waited for counts as failed: what takes milliseconds when nothing is wrong."""

ROOT = Path(__file__).resolve().parents[3]
"""The project's directory."""


T = TypeVar("T")


class StartError(Exception):
    """A process that ended, or did not get ready."""


FIRST_PORT, PORTS_EACH, BLOCKS = 10_000, 200, 110
"""Below what the kernel gives to clients (32,768 on), who would take one between the look and the start of a server."""

_ports = itertools.count()
_taking = threading.Lock()


def free_port() -> int:
    """A port that is free now, each once before they come round again; processes beside this one have others."""
    first = FIRST_PORT + os.getpid() % BLOCKS * PORTS_EACH
    with _taking:
        for number in itertools.islice(_ports, PORTS_EACH):
            port = first + number % PORTS_EACH
            with socket.socket() as probe, contextlib.suppress(OSError):
                probe.bind((LOOPBACK, port))
                return port
    raise StartError(f"none of the ports {first} to {first + PORTS_EACH - 1} is free")


def poll(what: str, holds: Callable[[], T | None], patience: float = PATIENCE) -> T:
    """Asks until the answer is something, and gives it."""
    deadline = time.monotonic() + patience
    while time.monotonic() < deadline:
        if (answer := holds()) is not None:
            return answer
        time.sleep(0.02)
    raise StartError(f"{what}: not within {patience:.0f} s")


def listens(port: int) -> bool:
    """Whether a connection to this port is accepted."""
    with socket.socket() as probe:
        return probe.connect_ex((LOOPBACK, port)) == 0


class Scratch:
    """A directory, and the processes that work in it; `with` ends both."""

    def __init__(self, name: str):
        self._directory = tempfile.TemporaryDirectory(prefix=f"headworks-{name}-", ignore_cleanup_errors=True)
        self.path = Path(self._directory.name)
        # Servers that root starts become another user, who has to get in.
        self.path.chmod(0o755)
        self._processes: list[tuple[str, subprocess.Popen]] = []
        self._stopped: set[str] = set()

    def __enter__(self) -> "Scratch":
        # As an interrupt from the keyboard does, it leaves `with`.
        signal.signal(signal.SIGTERM, signal.default_int_handler)
        return self

    def __exit__(self, *_: object) -> None:
        self.end()
        self._directory.cleanup()

    def end(self) -> None:
        """Ends all processes; what they wrote stays until `with` is left."""
        for ask in (signal.SIGTERM, signal.SIGKILL):
            for _, process in self._processes:
                signal_group(process, ask)
            deadline = time.monotonic() + 3
            for _, process in self._processes:
                with contextlib.suppress(subprocess.TimeoutExpired):
                    process.wait(max(0.0, deadline - time.monotonic()))

    def stop(self, name: str) -> None:
        """Asks a process to end, as a service manager does: it, and not what it has started."""
        self._stopped.add(name)
        for _, process in (one for one in self._processes if one[0] == name):
            process.terminate()

    def start(self, name: str, command: Sequence[str | Path], port: int | None = None, **options) -> Path:
        """Starts a process and waits until it listens on `port`; gives the file with what it says."""
        said = self.path / f"{name}.said"
        options["env"] = {**os.environ, **options.get("env", {})}
        with said.open("wb") as out:
            process = subprocess.Popen(
                [str(word) for word in command],
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                **options,
            )
        self._processes.append((name, process))
        if port is not None:
            self.wait_until_ready(name, process, said, lambda: listens(port) or None)
        return said

    def wait_until_ready(self, name: str, process: subprocess.Popen, said: Path, holds: Callable) -> None:
        """Waits; says what the process said if it ended instead."""

        def ready():
            if process.poll() is not None:
                raise StartError(f"{name} ended with {process.returncode}: {said.read_text(errors='replace')[-2000:]}")
            return holds()

        poll(f"{name} to get ready", ready)

    def ended(self) -> list[str]:
        """The processes that ended by themselves, which none should."""
        running = (one for one in self._processes if one[0] not in self._stopped)
        return [f"{name} ended with {process.returncode}" for name, process in running if process.poll() is not None]


def signal_group(process: subprocess.Popen, which: signal.Signals) -> None:
    """Signals a process and what it started; each has a group of its own."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, which)
