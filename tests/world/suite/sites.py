"""The servers, each with a gate in front of it."""

import os
import shutil
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from common import gate
from common.processes import LOOPBACK, ROOT, Scratch, StartError, free_port, poll

from .exchange import Scenario

WORLD = Path(__file__).resolve().parents[1]
SERVERS = WORLD / "servers"
TOOLS = ROOT / ".tools" / "world"

LISTENERS = """
[[listener]]
address = "{loopback}:{port}"
certificate = [{{ cert = "{certificate}", key = "{key}" }}]

[strictness]
headers = 200
"""


@dataclass
class Site:
    """A server, and how to reach it: directly, and through the gate in the clear and with TLS."""

    name: str
    start: Callable[[Scratch, int], None]
    versions: tuple[int, ...] = (1,)
    """Of HTTP, that it speaks in the clear when it is asked directly."""
    upstream: int = 1
    """The version that the gate speaks with it."""
    lacks: frozenset[str] = frozenset()
    """Scenarios that it does not know, or that go differently from one time to the next."""
    brief: bool = False
    """Whether it differs little from the one before it, and is not asked for all."""
    only: frozenset[str] = frozenset()
    """Kinds of scenarios that it is for; without any it is for all."""
    direct: int = 0
    clear: int = 0
    secure: int = 0
    here: Path = field(default_factory=Path)

    def knows(self, scenario: Scenario) -> bool:
        """Whether it is asked this."""
        if self.only:
            return scenario.kind in self.only
        if self.brief and "all" in scenario.needs:
            return False
        return scenario.name not in self.lacks and scenario.kind != "grpc"

    def run(self, scratch: Scratch, certificate: Path, key: Path) -> None:
        """Starts both; what they and the clients tell each other by files is in a directory of their own."""
        self.direct, self.clear, self.secure = free_port(), free_port(), free_port()
        self.here = scratch.path / self.name
        self.here.mkdir()
        self.here.chmod(0o777)
        content = self.here / "file.bin"
        content.write_bytes(bytes(number * 31 % 251 for number in range(100_000)))
        os.utime(content, (1_700_000_000, 1_700_000_000))
        self.start(scratch, self)
        upstream = f'address = "{LOOPBACK}:{self.direct}", http = {self.upstream}'
        more = LISTENERS.format(loopback=LOOPBACK, port=self.secure, certificate=certificate, key=key)
        gate.start(scratch, f"gate-{self.name}", upstream, self.clear, more)


def program(name: str, package: str) -> str:
    """Where a program is; Debian keeps servers where users do not look."""
    places = os.environ["PATH"] + ":/usr/sbin:/usr/local/go/bin"
    if found := shutil.which(name, path=places):
        return found
    raise StartError(f"{name} is missing; install it with: apt-get install {package}")


def python(*words: str) -> Callable:
    """A server of a Python package; `{port}` is filled in."""

    def start(scratch: Scratch, site: Site) -> None:
        command = [sys.executable, "-m", *(word.format(port=site.direct) for word in words)]
        scratch.start(site.name, command, site.direct, cwd=SERVERS, env={"WORLD_DIR": str(site.here)})

    return start


def command(*words: str | Path) -> Callable:
    """A server that is a program; `{port}` is filled in."""

    def start(scratch: Scratch, site: Site) -> None:
        filled = [str(word).format(port=site.direct) for word in words]
        scratch.start(site.name, filled, site.direct, cwd=SERVERS, env={"WORLD_DIR": str(site.here)})

    return start


def scripts(scratch: Scratch) -> None:
    """Copies what Node.js runs to where it finds its modules."""
    place = scratch.path / "scripts"
    place.mkdir()
    for file in (*SERVERS.glob("*.mjs"), *(WORLD / "clients").glob("*.mjs")):
        shutil.copy(file, place)
    (place / "node_modules").symlink_to(TOOLS / "node_modules")


def node(version: str) -> Callable:
    """Node.js."""

    def start(scratch: Scratch, site: Site) -> None:
        line = [program("node", "nodejs"), scratch.path / "scripts" / "node_app.mjs", version, str(site.direct)]
        scratch.start(site.name, line, site.direct, env={"WORLD_DIR": str(site.here)})

    return start


FPM = """\
[global]
daemonize = no
error_log = {place}/fpm.log
[www]
{user}listen = {place}/fpm.sock
listen.mode = 0666
pm = static
pm.max_children = 6
clear_env = no
php_admin_flag[output_buffering] = off
catch_workers_output = yes
"""

NGINX = """\
daemon off;
{user}pid {place}/nginx.pid;
error_log stderr warn;
events {{ worker_connections 256; }}
http {{
    access_log off;
    client_max_body_size 50m;
    client_body_temp_path {place}/body;
    proxy_temp_path {place}/proxy;
    fastcgi_temp_path {place}/fastcgi;
    uwsgi_temp_path {place}/uwsgi;
    scgi_temp_path {place}/scgi;
    server {{
        listen 127.0.0.1:{port};
        location / {{
            include /etc/nginx/fastcgi_params;
            fastcgi_param SCRIPT_FILENAME {servers}/app.php;
            fastcgi_pass unix:{place}/fpm.sock;
            fastcgi_buffers 16 16k;
            fastcgi_buffer_size 32k;
        }}
    }}
}}
"""

APACHE = """\
ServerRoot {place}
PidFile {place}/apache.pid
Listen 127.0.0.1:{port}
ServerName localhost
LoadModule mpm_event_module {modules}/mod_mpm_event.so
LoadModule authz_core_module {modules}/mod_authz_core.so
LoadModule proxy_module {modules}/mod_proxy.so
LoadModule proxy_fcgi_module {modules}/mod_proxy_fcgi.so
LoadModule dir_module {modules}/mod_dir.so
LoadModule setenvif_module {modules}/mod_setenvif.so
ErrorLog {place}/apache.log
{user}AllowEncodedSlashes NoDecode
KeepAliveTimeout 30
LimitRequestFieldSize 8190
SetEnvIf Authorization "(.*)" HTTP_AUTHORIZATION=$1
DocumentRoot {servers}
FallbackResource /app.php
<FilesMatch "\\.php$">
    SetHandler "proxy:unix:{place}/fpm.sock|fcgi://localhost"
</FilesMatch>
<Proxy "fcgi://localhost" flushpackets=on>
</Proxy>
"""


def php(web: str) -> Callable:
    """PHP-FPM with a web server in front of it."""

    def start(scratch: Scratch, site: Site) -> None:
        place = scratch.path / f"{site.name}-place"
        place.mkdir()
        place.chmod(0o755)
        root = os.geteuid() == 0
        servers = scratch.path / f"{site.name}-app"
        servers.mkdir()
        servers.chmod(0o755)
        shutil.copy(SERVERS / "app.php", servers)
        names = {"place": place, "port": site.direct, "servers": servers, "modules": "/usr/lib/apache2/modules"}
        fpm = place / "fpm.conf"
        fpm.write_text(FPM.format(user="user = www-data\n" if root else "", **names))
        finders = sorted(Path("/usr/sbin").glob("php-fpm*"))
        if not finders:
            raise StartError("php-fpm is missing; install it with: apt-get install php-fpm")
        environment = {"WORLD_DIR": str(site.here)}
        scratch.start(f"{site.name}-fpm", [finders[-1], "-F", "-y", fpm], env=environment)
        poll("php-fpm to listen", lambda: (place / "fpm.sock").exists() or None)
        configuration = place / "server.conf"
        if web == "nginx":
            configuration.write_text(NGINX.format(user="user www-data;\n" if root else "", **names))
            line = [program("nginx", "nginx-light"), "-p", place, "-e", "stderr", "-c", configuration]
        else:
            users = "User www-data\nGroup www-data\n" if root else ""
            configuration.write_text(APACHE.format(user=users, **names))
            line = [program("apache2", "apache2-bin"), "-DFOREGROUND", "-f", configuration]
        scratch.start(site.name, line, site.direct)

    return start


def java(scratch: Scratch, site: Site) -> None:
    """The server of the JDK; compiled as it starts, for it to run once."""
    line = [program("java", "default-jdk-headless"), "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"]
    line += [SERVERS / "App.java", str(site.direct)]
    scratch.start(site.name, line, site.direct, env={"WORLD_DIR": str(site.here)})


GUNICORN = ("gunicorn", "--bind", f"{LOOPBACK}:{{port}}", "--log-level", "warning", "--timeout", "60")
# What no server of a kind has: Python's WSGI, Java's and PHP's have no trailers and no interim responses.
PLAIN = frozenset({"trailers", "hints", "websocket"})
# A web server of its own takes in all of an upload before PHP sees it.
PHP = PLAIN | {"upload-chunks", "upload-length"}
FLASK = PLAIN | {"options-star"}
ASGI = frozenset({"reason", "trailers", "hints"})

SITES = [
    Site("gunicorn-sync", python(*GUNICORN, "--workers", "4", "flask_app:app"), lacks=FLASK),
    Site(
        "gunicorn-threads",
        python(*GUNICORN, "-k", "gthread", "--threads", "8", "flask_app:app"),
        lacks=FLASK,
        brief=True,
    ),
    Site(
        "uvicorn",
        python("uvicorn", "--host", LOOPBACK, "--port", "{port}", "--log-level", "warning", "asgi_app:app"),
        lacks=ASGI,
    ),
    Site(
        "hypercorn",
        python("hypercorn", "--bind", f"{LOOPBACK}:{{port}}", "asgi_app:app"),
        (1, 2),
        lacks=ASGI,
        brief=True,
    ),
    Site(
        "hypercorn-h2",
        python("hypercorn", "--bind", f"{LOOPBACK}:{{port}}", "asgi_app:app"),
        (1, 2),
        2,
        ASGI | {"websocket"},
    ),
    Site("node", node("1")),
    Site("node-h2", node("2"), (2,), 2, lacks=frozenset({"reason", "websocket"})),
    Site("go", command(TOOLS / "server", "{port}"), (1, 2), lacks=frozenset({"reason", "websocket"})),
    Site("go-h2", command(TOOLS / "server", "{port}"), (1, 2), 2, frozenset({"reason", "websocket"})),
    Site("php-nginx", php("nginx"), lacks=PHP | {"options-star"}),
    Site("php-apache", php("apache"), lacks=PHP | {"chunked-1k", "chunked-100k", "chunked-5m", "download-20m"}),
    Site("java", java, lacks=PLAIN | {"reason", "options-star"}),
    Site("websockets", python("websocket_app", "{port}"), only=frozenset({"websocket"})),
    Site("grpc", python("grpc_app", "{port}"), (2,), 2, only=frozenset({"grpc"})),
]
