"""The proxies, each with lanes: as many copies as cases can be tried at a time."""

import shutil
from dataclasses import dataclass

from common import gate
from common.processes import LOOPBACK, Scratch, StartError, free_port

from .recorder import Recorder

LANES = 8


@dataclass
class Lane:
    """A port of a proxy, and the server behind it."""

    port: int
    recorder: Recorder


def lanes() -> list[Lane]:
    """Ports and servers for one proxy."""
    return [Lane(free_port(), Recorder()) for _ in range(LANES)]


def gates(scratch: Scratch) -> list[Lane]:
    """The gate with its defaults, a process for each lane."""
    made = lanes()
    for number, lane in enumerate(made):
        gate.start(scratch, f"gate-{number}", f'address = "{LOOPBACK}:{lane.recorder.port}"', lane.port)
    return made


HAPROXY = """\
global
    nbthread 1
defaults
    mode http
    timeout connect 2s
    timeout client 30s
    timeout server 30s
    timeout http-request 30s
    option forwardfor
"""


def haproxy(scratch: Scratch) -> list[Lane]:
    """HAProxy as its manual begins: frontends, servers, times.

    One thread: with more, one takes over what another holds of the server before that one has seen it end.
    """
    made = lanes()
    text = HAPROXY
    for number, lane in enumerate(made):
        text += f"listen lane-{number}\n    bind {LOOPBACK}:{lane.port}\n"
        text += f"    server site {LOOPBACK}:{lane.recorder.port}\n"
    file = scratch.path / "haproxy.cfg"
    file.write_text(text)
    scratch.start("haproxy", [program("haproxy"), "-db", "-f", file], made[-1].port)
    return made


NGINX = """\
daemon off;
master_process off;
pid {here}/nginx.pid;
error_log stderr crit;
events {{ worker_connections 256; }}
http {{
    access_log off;
    client_body_temp_path {here}/body;
    proxy_temp_path {here}/proxy;
    fastcgi_temp_path {here}/fastcgi;
    uwsgi_temp_path {here}/uwsgi;
    scgi_temp_path {here}/scgi;
    proxy_http_version 1.1;
    proxy_set_header Host $host;
    proxy_set_header Connection "";
    proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;
{servers}}}
"""


def nginx(scratch: Scratch) -> list[Lane]:
    """nginx as a proxy of HTTP/1.1 that passes on the host."""
    made = lanes()
    servers = ""
    for number, lane in enumerate(made):
        servers += f"    upstream site-{number} {{ server {LOOPBACK}:{lane.recorder.port}; keepalive 4; }}\n"
        servers += f"    server {{ listen {LOOPBACK}:{lane.port}; "
        servers += f"location / {{ proxy_pass http://site-{number}; }} }}\n"
    file = scratch.path / "nginx.conf"
    file.write_text(NGINX.format(here=scratch.path, servers=servers))
    command = [program("nginx"), "-p", scratch.path, "-e", "stderr", "-c", file]
    scratch.start("nginx", command, made[-1].port)
    return made


def program(name: str) -> str:
    """Where a program is; Debian keeps servers where users do not look."""
    if found := shutil.which(name) or shutil.which(name, path="/usr/sbin:/sbin"):
        return found
    raise StartError(f"{name} is missing; install it with: apt-get install {name}")
