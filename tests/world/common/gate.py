"""The gate under test: the debug binary, each with a configuration of its own."""

import os
import subprocess
from pathlib import Path

from .processes import LOOPBACK, ROOT, Scratch, StartError, free_port

BINARY = Path(os.environ.get("HEADWORKS", ROOT / "target" / "debug" / "headworks"))


def start(scratch: Scratch, name: str, upstream: str, port: int, more: str = "", binary: Path = BINARY) -> None:
    """Starts a gate on `port` in front of `upstream`, an inline table's inside."""
    if not binary.exists():
        raise StartError(f"{binary} is missing; build it with: cargo build -p headworks")
    configuration = scratch.path / f"{name}.toml"
    configuration.write_text(
        f'listen = "{LOOPBACK}:{port}"\nadmin = "{LOOPBACK}:{free_port()}"\nupstream = {{ {upstream} }}\n{more}\n'
    )
    scratch.start(name, [binary, "gate", "--config", configuration], port)


def certificates(directory: Path) -> tuple[Path, Path, Path]:
    """An authority of our own, and a certificate for localhost and 127.0.0.1: authority, certificate, key."""
    authority, certificate, key = (directory / name for name in ("ca.pem", "site.pem", "site.key"))
    new = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2"]
    extensions = (
        "subjectAltName=DNS:localhost,IP:127.0.0.1",
        "basicConstraints=CA:FALSE",
        "extendedKeyUsage=serverAuth",
    )
    added = [word for extension in extensions for word in ("-addext", extension)]
    signed = ["-CA", authority, "-CAkey", directory / "ca.key"]
    for command in (
        [*new, "-subj", "/CN=World authority", "-keyout", directory / "ca.key", "-out", authority],
        [*new, "-subj", "/CN=localhost", *added, *signed, "-keyout", key, "-out", certificate],
    ):
        subprocess.run([str(word) for word in command], check=True, capture_output=True)
    return authority, certificate, key
