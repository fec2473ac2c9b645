"""A server, and what belongs to it: run.py ADDRESS PORT PART...

A part is a word such as "puma threads=5 ask=@partner": a kind, and settings of it. The last part is the server; the
ones before it listen on a port or a socket of their own, which those after it know as @KIND. @place is a directory
that all of them share, and that is removed at the end. As soon as one part ends, or SIGTERM comes, all of them end.
"""

import contextlib
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

import configurations

HERE = pathlib.Path(__file__).resolve().parent
TOOLS = HERE.parents[3] / ".tools" / "held"
DATABASE = TOOLS / "mariadb"
MARIADB = ["--innodb-log-file-size=8M", "--innodb-buffer-pool-size=32M", "--innodb-flush-method=fsync"]
TOMCAT = [
    "tomcat10-catalina",
    "tomcat10-coyote",
    "tomcat10-util",
    "tomcat10-util-scan",
    "tomcat10-juli",
    "tomcat10-jni",
    "tomcat10-annotations-api",
    "tomcat10-api",
    "tomcat10-servlet-api",
    "tomcat10-jaspic-api",
    "tomcat10-el-api",
    "tomcat10-jsp-api",
]


def compiled(name):
    """The command of a source here. It is compiled once and kept below .tools/held."""
    source = HERE / name
    mark = hashlib.sha256(source.read_bytes()).hexdigest()[:12]
    kept = TOOLS / f"{source.stem}-{mark}"
    libraries = ":".join(f"/usr/share/java/{library}.jar" for library in TOMCAT)
    if not kept.exists():
        fresh = pathlib.Path(tempfile.mkdtemp(prefix="fresh-", dir=TOOLS))
        if source.suffix == ".go":
            go = shutil.which("go") or "/usr/local/go/bin/go"
            subprocess.run([go, "build", "-o", fresh / "program", source], check=True)
        else:
            subprocess.run(["javac", "-cp", libraries, "-d", fresh, source], check=True)
        try:
            fresh.rename(kept)
        except OSError:
            shutil.rmtree(fresh)
    if source.suffix == ".go":
        return [kept / "program"]
    return ["java", "-cp", f"{kept}:{libraries}"]


def unused_port():
    with socket.create_server(("127.0.0.1", 0)) as probe:
        return probe.getsockname()[1]


def wait_for(what, works):
    end = time.monotonic() + 15
    while not works():
        if time.monotonic() > end:
            sys.exit(f"{what} has not come up")
        time.sleep(0.03)


def answers(port):
    try:
        socket.create_connection(("127.0.0.1", port), 1).close()
    except OSError:
        return False
    return True


class Parts:
    """What runs, and how each kind of it is started: by the method of that name."""

    def __init__(self, place):
        self.place = place
        self.known = {"place": str(place)}
        self.running = []

    def start(self, *words, settings=None, **options):
        """In a process group of its own, since some of these have children that they leave behind."""
        surroundings = dict(os.environ, PYTHONDONTWRITEBYTECODE="1", **(settings or {}))
        words = ["setpriv", "--pdeathsig=TERM", *map(str, words)]
        options = {"stdin": subprocess.DEVNULL, "start_new_session": True, "env": surroundings, **options}
        self.running.append(subprocess.Popen(words, **options))

    def part(self, word, address=None, port=None):
        """Starts a part. One without an address stands behind another, and is waited for."""
        for name, value in self.known.items():
            word = word.replace(f"@{name}", value)
        kind, *settings = word.split()
        settings = dict(setting.split("=", 1) for setting in settings)
        own = port or unused_port()
        self.known.setdefault(kind, str(own))
        getattr(self, kind)(address or "127.0.0.1", own, settings)
        if port is None and kind not in ("names", "mariadb", "certificate", "files", "photographs"):
            wait_for(kind, lambda: answers(own))

    def watch(self):
        while all(process.poll() is None for process in self.running):
            time.sleep(0.1)

    def end(self):
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        for process in reversed(self.running):
            if process.poll() is None:
                process.terminate()
        last = time.monotonic() + 1
        for process in self.running:
            while process.poll() is None and time.monotonic() < last:
                time.sleep(0.02)
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()

    # What stands behind servers, or is needed by them.

    def partner(self, _address, port, settings):
        options = [word for name, value in settings.items() for word in (f"-{name}", value)]
        self.start(*compiled("partner.go"), "-listen", f"127.0.0.1:{port}", *options)

    def names(self, _address, port, settings):
        self.start(sys.executable, HERE / "names.py", port, settings["wait"])

    def redis(self, _address, port, _settings):
        options = ["--save", "", "--appendonly", "no", "--dir", self.place, "--logfile", "/dev/null"]
        self.start("redis-server", "--port", port, "--bind", "127.0.0.1", *options)

    def mariadb(self, _address, _port, _settings):
        path = self.place / "mariadb.sock"
        self.known["mariadb"] = str(path)
        shutil.copytree(DATABASE, self.place / "mariadb")
        options = [f"--datadir={self.place}/mariadb", f"--socket={path}", "--user=root", "--skip-networking", *MARIADB]
        self.start("mariadbd", "--no-defaults", *options, stderr=subprocess.DEVNULL)
        words = ["mariadb", "--no-defaults", f"--socket={path}", "-uroot"]
        probe = [*words, "-e", "select 1"]
        wait_for("mariadb", lambda: not subprocess.run(probe, check=False, capture_output=True).returncode)
        subprocess.run(words, check=True, input=configurations.TABLES, text=True)

    def certificate(self, _address, _port, settings):
        """A key of RSA with so many bits, or on P-256, and its certificate."""
        bits = settings["bits"]
        key = ["ec", "-pkeyopt", "ec_paramgen_curve:P-256"] if bits == "p256" else [f"rsa:{bits}"]
        words = ["openssl", "req", "-x509", "-newkey", *key, "-nodes", "-days", "30", "-subj", "/CN=localhost"]
        words += ["-keyout", "key.pem", "-out", "crt.pem"]
        subprocess.run(words, check=True, cwd=self.place, capture_output=True)
        both = (self.place / "key.pem").read_text() + (self.place / "crt.pem").read_text()
        (self.place / "both.pem").write_text(both)

    def files(self, _address, _port, settings):
        """A page of so many bytes."""
        size = int(settings["bytes"])
        (self.place / "files").mkdir()
        (self.place / "files" / "index.html").write_text("headworks\n" * (size // 10))

    def photographs(self, _address, _port, settings):
        """One file of so many megabytes, in which photographs lie one after the other."""
        with (self.place / "photographs").open("wb") as file:
            for at in range(int(settings["megabytes"])):
                file.write(bytes([at % 251]) * (1 << 20))
            file.flush()
            os.fsync(file.fileno())

    # Servers.

    def puma(self, address, port, settings):
        threads = settings.pop("threads")
        bind = f"tcp://{address}:{port}?backlog=1024"
        words = ["-q", "-e", "production", "-t", f"{threads}:{threads}", "-b", bind, "-C", HERE / "puma.rb"]
        self.start("puma", *words, settings=settings, stdout=subprocess.DEVNULL)

    def uwsgi(self, address, port, settings):
        processes = settings.pop("processes")
        words = [
            "uwsgi-core",
            "--plugin=python311",
            "--master",
            "--die-on-term",
            "--need-app",
            "--disable-logging",
            f"--processes={processes}",
            f"--http-socket={address}:{port}",
            "--listen=1024",
            f"--pythonpath={next((TOOLS / 'lib').glob('python*'))}/site-packages",
            f"--pythonpath={HERE}",
            "--module=wsgi_pages:application",
            f"--logto={self.place}/uwsgi.log",
        ]
        self.start(*words, settings={"CLOSE": "1", **settings})

    def waitress(self, address, port, settings):
        words = [f"--listen={address}:{port}", f"--threads={settings.pop('threads')}", "--backlog=1024"]
        words += ["--connection-limit=2000", "wsgi_pages:application"]
        self.start(TOOLS / "bin" / "waitress-serve", *words, settings=settings, cwd=HERE, stderr=subprocess.DEVNULL)

    def aiohttp(self, address, port, settings):
        self.start(TOOLS / "bin" / "python", HERE / "aiohttp_pages.py", address, port, settings=settings)

    def tornado(self, address, port, settings):
        self.start(TOOLS / "bin" / "python", HERE / "tornado_pages.py", address, port, settings=settings)

    def cluster(self, address, port, settings):
        self.start("node", HERE / "cluster.js", address, port, settings=settings)

    def tomcat(self, address, port, settings):
        options = [f"-{word}" for word in settings.pop("java", "").split(",") if word]
        program = compiled("Pages.java")
        words = [f"{name}={value}" for name, value in settings.items()]
        self.start(*program, *options, "Pages", address, port, self.place, *words)

    def lighttpd(self, address, port, settings):
        text = configurations.LIGHTTPD[settings["site"]]
        values = {"place": self.place, "address": address, "port": port, **settings}
        path = self.place / "lighttpd.conf"
        path.write_text((configurations.LIGHTTPD["all"] + text).format(**values))
        self.start("lighttpd", "-D", "-f", path)

    def caddy(self, address, port, settings):
        text = configurations.CADDY[settings["site"]]
        path = self.place / "Caddyfile"
        path.write_text(text.format(place=self.place, address=address, port=port, **settings))
        home = {"HOME": str(self.place), "XDG_DATA_HOME": str(self.place), "XDG_CONFIG_HOME": str(self.place)}
        words = ["caddy", "run", "--adapter", "caddyfile", "--config", path]
        self.start(*words, settings=home, stderr=subprocess.DEVNULL)

    def varnish(self, address, port, settings):
        path = self.place / "site.vcl"
        path.write_text(configurations.VARNISH.format(**settings))
        words = ["-F", "-j", "none", "-n", self.place / "varnish", "-a", f"{address}:{port}", "-f", path, "-T", "none"]
        words += ["-s", "malloc,32M", "-p", "vsl_space=8M", "-p", "listen_depth=1024"]
        self.start("varnishd", *words, stderr=subprocess.DEVNULL)


def main():
    address, port, *words = sys.argv[1:]
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    with tempfile.TemporaryDirectory(prefix="headworks-parts-", ignore_cleanup_errors=True) as name:
        place = pathlib.Path(name)
        place.chmod(0o755)
        parts = Parts(place)
        try:
            for word in words[:-1]:
                parts.part(word)
            parts.part(words[-1], address, int(port))
            parts.watch()
        finally:
            parts.end()


if __name__ == "__main__":
    main()
