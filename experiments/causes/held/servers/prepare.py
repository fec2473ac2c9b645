"""Installs what the servers here need: Debian packages, Python packages and an empty MariaDB below .tools/held."""

import pathlib
import shutil
import subprocess
import sys
import venv

import run

DEBIAN = [
    "caddy",
    "libtomcat10-java",
    "lighttpd",
    "lighttpd-mod-openssl",
    "mariadb-client-core",
    "mariadb-server-core",
    "puma",
    "redis-server",
    "uwsgi-core",
    "uwsgi-plugin-python3",
    "varnish",
]
PYTHON = [
    "aiohttp==3.10.11",
    "dnspython==2.7.0",
    "pymysql==1.1.1",
    "redis==5.2.1",
    "tornado==6.4.2",
    "waitress==3.0.2",
]
NO_START = pathlib.Path("/usr/sbin/policy-rc.d")


def debian():
    """Without starting the services that the packages bring."""
    state = ["dpkg-query", "-W", "-f", "${db:Status-Status}"]
    missing = [
        name
        for name in DEBIAN
        if subprocess.run([*state, name], capture_output=True, check=False).stdout != b"installed"
    ]
    if not missing:
        return
    ours = not NO_START.exists()
    if ours:
        NO_START.write_text("#!/bin/sh\nexit 101\n")
        NO_START.chmod(0o755)
    try:
        subprocess.run(["apt-get", "install", "-y", "--no-install-recommends", *missing], check=True)
    finally:
        if ours:
            NO_START.unlink()


def python():
    if not (run.TOOLS / "bin" / "python").exists():
        venv.create(run.TOOLS, with_pip=True)
    words = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", *PYTHON]
    subprocess.run([run.TOOLS / "bin" / "python", *words], check=True)


def mariadb():
    if run.DATABASE.exists():
        return
    fresh = run.DATABASE.with_suffix(".fresh")
    shutil.rmtree(fresh, ignore_errors=True)
    words = [
        "mariadb-install-db",
        "--no-defaults",
        f"--datadir={fresh}",
        "--user=root",
        "--auth-root-authentication-method=normal",
        "--skip-name-resolve",
        "--skip-test-db",
        *run.MARIADB,
    ]
    subprocess.run(words, check=True, stdout=subprocess.DEVNULL)
    fresh.rename(run.DATABASE)


def main():
    debian()
    python()
    mariadb()
    run.compiled("partner.go")
    run.compiled("Pages.java")


if __name__ == "__main__":
    sys.exit(main())
