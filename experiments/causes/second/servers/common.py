"""What the programs here share: a group of programs that end together, and compiled sources."""

import hashlib
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
TOOLS = HERE.parents[3] / ".tools"
GO = shutil.which("go") or "/usr/local/go/bin/go"


class Group:
    """Programs with a directory of their own; as soon as one ends, or SIGTERM comes, all of them end."""

    def __enter__(self):
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
        self.members = []
        self.scratch = tempfile.TemporaryDirectory(prefix="headworks-held-", ignore_cleanup_errors=True)
        self.place = pathlib.Path(self.scratch.name)
        self.place.chmod(0o777)
        return self

    def add(self, *words, signal_at_end=signal.SIGTERM, **options):
        command = ["setpriv", f"--pdeathsig={signal_at_end.name[3:]}", *map(str, words)]
        member = subprocess.Popen(command, stdin=subprocess.DEVNULL, **options)
        self.members.append((member, signal_at_end))
        return member

    def watch(self):
        while all(member.poll() is None for member, _ in self.members):
            time.sleep(0.1)

    def __exit__(self, *_):
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        for member, last in reversed(self.members):
            if member.poll() is None:
                member.send_signal(last)
        for member, _ in self.members:
            try:
                member.wait(2)
            except subprocess.TimeoutExpired:
                member.kill()
                member.wait()
        self.scratch.cleanup()


def build(name):
    """The command of a Go or Java source here. What was compiled is kept, since that takes a while."""
    source = HERE / name
    mark = hashlib.sha256(source.read_bytes()).hexdigest()[:12]
    kept = pathlib.Path(tempfile.gettempdir()) / f"headworks-held-{source.stem}-{mark}"
    if not kept.exists():
        fresh = pathlib.Path(tempfile.mkdtemp(prefix="headworks-held-fresh-"))
        if source.suffix == ".go":
            subprocess.run([GO, "build", "-o", fresh / "program", source], check=True)
        else:
            subprocess.run(["javac", "-d", fresh, source], check=True)
        try:
            fresh.rename(kept)
        except OSError:
            shutil.rmtree(fresh)
    return [str(kept / "program")] if source.suffix == ".go" else ["java", "-cp", str(kept), source.stem]


def python_tool(name):
    """A program of a Python package: one on the path, or one that `tools/need gunicorn` installed."""
    for place in sorted(TOOLS.glob(f"*/bin/{name}")):
        return str(place)
    found = shutil.which(name)
    if not found:
        sys.exit(f"{name} is not installed: `tools/need gunicorn`, then `.tools/predictions/bin/pip install {name}`")
    return found


def unused_port():
    with socket.create_server(("127.0.0.1", 0)) as probe:
        return probe.getsockname()[1]


def until_open(port):
    end = time.monotonic() + 8
    while time.monotonic() < end:
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
            return
        except OSError:
            time.sleep(0.02)
    sys.exit(f"nothing listens on port {port}")


def until_there(path):
    end = time.monotonic() + 8
    while not path.exists():
        if time.monotonic() > end:
            sys.exit(f"{path} has not come up")
        time.sleep(0.02)


def environment(settings):
    return dict(os.environ, PYTHONDONTWRITEBYTECODE="1", **dict(word.split("=", 1) for word in settings))
