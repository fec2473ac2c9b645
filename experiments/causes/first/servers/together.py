"""What the server programs here share: they start several programs, wait for their end, and end them all."""

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
GUNICORN = HERE.parents[3] / ".tools/predictions/bin/gunicorn"
GO = shutil.which("go") or "/usr/local/go/bin/go"
# With the parent its children end as well, however it ends.
WITH_PARENT = ["setpriv", "--pdeathsig=TERM"]


class Programs:
    """Programs that run together, in a directory of their own, until one of them ends or SIGTERM comes."""

    def __enter__(self):
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
        self.running = []
        self.temporary = tempfile.TemporaryDirectory(prefix="headworks-cause-", ignore_cleanup_errors=True)
        self.directory = pathlib.Path(self.temporary.name)
        self.directory.chmod(0o755)
        return self

    def start(self, *words, **options):
        words = [str(word) for word in [*WITH_PARENT, *words]]
        self.running.append(subprocess.Popen(words, stdin=subprocess.DEVNULL, **options))

    def python(self, name, *words):
        self.start(sys.executable, HERE / name, *words)

    def neighbour(self, *words):
        """Another program on the machine: no descendant of the server, nor of its session."""
        subprocess.run([sys.executable, HERE / "neighbour.py", str(os.getpid()), *words], check=True)

    def wait(self):
        while all(program.poll() is None for program in self.running):
            signal.sigtimedwait([], 0.1)

    def __exit__(self, *_):
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        for program in reversed(self.running):
            program.terminate()
        for program in self.running:
            try:
                program.wait(3)
            except subprocess.TimeoutExpired:
                program.kill()
                program.wait()
        self.temporary.cleanup()


def compiled(source):
    """The command that a Go or Java source comes to; it is kept, because to compile may take longer than a start."""
    source = HERE / source
    digest = hashlib.sha256(source.read_bytes()).hexdigest()[:16]
    place = pathlib.Path(tempfile.gettempdir()) / f"headworks-compiled-{digest}"
    if not place.exists():
        fresh = pathlib.Path(tempfile.mkdtemp(prefix="headworks-compiling-"))
        if source.suffix == ".go":
            subprocess.run([GO, "build", "-o", fresh / "server", source], check=True)
        else:
            subprocess.run(["javac", "-d", fresh, source], check=True)
        try:
            fresh.rename(place)
        except OSError:
            shutil.rmtree(fresh)
    return [str(place / "server")] if source.suffix == ".go" else ["java", "-cp", str(place), source.stem]


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as free:
        return free.getsockname()[1]


def until(done):
    end = time.monotonic() + 8
    while not done():
        if time.monotonic() > end:
            sys.exit("what the server needs has not come up")
        time.sleep(0.02)


def listens(port):
    try:
        socket.create_connection(("127.0.0.1", port), 1).close()
    except OSError:
        return False
    return True


def await_port(port):
    until(lambda: listens(port))


def await_path(path):
    until(path.exists)
