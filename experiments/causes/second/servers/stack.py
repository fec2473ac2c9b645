"""A server, and what belongs to it: stack.py ADDRESS PORT [OPTIONS] KIND WORDS...

KIND is go, java, node, threads, gunicorn, uvicorn, php, nginx, haproxy, cgi, prefork or event; what WORDS are depends
on it. In all words @back is the port of what stands behind the server, and @place the directory of all.
"""

import argparse
import pathlib
import shlex
import subprocess
import sys

import common
import configurations
import records

FPM = sorted(pathlib.Path("/usr/sbin").glob("php-fpm*"))
POSTGRES = sorted(pathlib.Path("/usr/lib/postgresql").glob("*/bin"))
AS_POSTGRES = ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups", "--pdeathsig=INT"]


class Stack:
    def __init__(self, group, address, port, back):
        self.group = group
        self.address = address
        self.port = port
        self.values = {"place": group.place, "address": address, "port": port, "back": back}
        self.kinds = {
            "go": self.go,
            "java": self.java,
            "node": self.node,
            "threads": self.threads,
            "gunicorn": self.gunicorn,
            "uvicorn": self.uvicorn,
            "php": self.php,
            "nginx": self.nginx,
            "haproxy": self.haproxy,
            "cgi": self.apache,
            "prefork": self.apache,
            "event": self.apache,
        }

    def fill(self, word):
        return word.replace("@back", str(self.values["back"])).replace("@place", str(self.group.place))

    def write(self, name, text, **more):
        path = self.group.place / name
        path.write_text(text.format(**self.values, **more))
        return path

    def go(self, *words):
        self.group.add(*common.build("site.go"), "-listen", f"{self.address}:{self.port}", *words)

    def java(self, *words):
        options = [word for word in words if word.startswith("-")]
        settings = [word for word in words if not word.startswith("-")]
        program, *rest = common.build("Site.java")
        self.group.add(program, *options, *rest, self.address, self.port, *settings)

    def node(self, *words):
        options = [word for word in words if word.startswith("-")]
        settings = [word for word in words if not word.startswith("-")]
        self.group.add("node", *options, common.HERE / "site.js", self.address, self.port, *settings)

    def threads(self, *words):
        self.group.add(sys.executable, common.HERE / "threads.py", self.address, self.port, *words)

    def gunicorn(self, *words):
        options = [word for word in words if word.startswith("-")]
        settings = [word for word in words if not word.startswith("-")]
        fixed = [f"--bind={self.address}:{self.port}", "--backlog=1024", "--graceful-timeout=1", "wsgi_site:site"]
        self.group.add(
            common.python_tool("gunicorn"), *options, *fixed, cwd=common.HERE, env=common.environment(settings)
        )

    def uvicorn(self, *words):
        fixed = ["--host", self.address, "--port", self.port, "--backlog", 1024, "--log-level", "critical"]
        self.group.add(
            common.python_tool("uvicorn"), *fixed, "asgi_site:app", cwd=common.HERE, env=common.environment(words)
        )

    def php(self, page, children, *settings):
        """PHP-FPM behind nginx; settings are those of the page."""
        self.write("fpm.conf", configurations.FPM, children=children)
        (self.group.place / "page.php").write_text((common.HERE / f"{page}.php").read_text())
        self.group.add(FPM[-1], "-F", "-y", self.group.place / "fpm.conf", env=common.environment(settings))
        common.until_there(self.group.place / "fpm.sock")
        self.nginx("php")

    def nginx(self, kind, *words):
        text = configurations.NGINX.replace("@site", configurations.SITES[kind])
        for word in words:
            name, value = word.split("=", 1)
            text = text.replace(f"@{name}", value)
        text = text.replace("@limit", "1024").replace("@descriptors", "8192").replace("@tls", "").replace("@key", "")
        configuration = self.write("nginx.conf", text)
        self.group.add("/usr/sbin/nginx", "-c", configuration, "-p", self.group.place)

    def haproxy(self, *words):
        """Words are lines of the front, and after `--` of the back."""
        at = words.index("--") if "--" in words else len(words)
        front = "".join(f"    {line}\n" for line in words[:at])
        back = "".join(f"    {line}\n" for line in words[at + 1 :])
        tls = "ssl crt @place/both.pem no-tls-tickets" if (self.group.place / "both.pem").exists() else ""
        text = configurations.HAPROXY.replace("@front", front).replace("@behind", back).replace("@tls", tls)
        configuration = self.write("haproxy.cfg", text.replace("@place", str(self.group.place)))
        self.group.add("/usr/sbin/haproxy", "-db", "-q", "-f", configuration)

    def apache(self, workers):
        kind = self.kind
        mpm = "event" if kind == "event" else "prefork"
        names = ["mpm_" + mpm, "authz_core", *(["alias", "cgi"] if kind == "cgi" else ["proxy", "proxy_http"])]
        modules = "\n".join(f"LoadModule {name}_module /usr/lib/apache2/modules/mod_{name}.so" for name in names)
        script = self.group.place / "page.sh"
        script.write_text((common.HERE / "page.sh").read_text())
        script.chmod(0o755)
        text = configurations.APACHE.replace("@site", configurations.SITES["cgi" if kind == "cgi" else "apache"])
        text = text.replace("@mpm", configurations.MPM[mpm])
        configuration = self.write("apache.conf", text, modules=modules, workers=workers)
        # At its end it sends a signal to all of its process group.
        words = ["/usr/sbin/apache2", "-d", self.group.place, "-f", configuration, "-D", "FOREGROUND"]
        self.group.add(*words, process_group=0)

    def certificate(self, kind):
        """A key of RSA with so many bits, or `ec`, and its certificate."""
        key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256"] if kind == "ec" else ["-newkey", f"rsa:{kind}"]
        place = self.group.place
        words = ["openssl", "req", "-x509", *key, "-nodes", "-days", "30", "-subj", "/CN=localhost"]
        subprocess.run([*words, "-keyout", "key.pem", "-out", "crt.pem"], check=True, cwd=place, capture_output=True)
        (place / "both.pem").write_text((place / "crt.pem").read_text() + (place / "key.pem").read_text())

    def postgres(self):
        place = self.group.place
        subprocess.run(
            [*AS_POSTGRES, POSTGRES[-1] / "initdb", "-D", place / "data", "-U", "postgres", "-A", "trust", "--no-sync"],
            check=True,
            stdout=subprocess.DEVNULL,
        )
        settings = ["listen_addresses=", f"unix_socket_directories={place}", "shared_buffers=32MB", "wal_init_zero=off"]
        options = [word for setting in settings for word in ("-c", setting)]
        self.group.add(*AS_POSTGRES, POSTGRES[-1] / "postgres", "-D", place / "data", *options)
        records.Database(place).create()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--back", metavar="'KIND WORDS'", help="what stands behind the server")
    parser.add_argument("--names", metavar="'WORDS'", help="of names.py, which is run as well")
    parser.add_argument("--certificate", metavar="BITS", help="a key of RSA with so many bits, or `ec`")
    parser.add_argument("--archive", type=int, default=0, metavar="MB", help="size of a file @place/archive")
    parser.add_argument("--postgres", action="store_true")
    parser.add_argument("kind")
    parser.add_argument("words", nargs=argparse.REMAINDER)
    address, port, *rest = sys.argv[1:]
    given = parser.parse_args(rest)
    with common.Group() as group:
        behind = common.unused_port()
        front = Stack(group, address, port, behind)
        if given.archive:
            with (group.place / "archive").open("wb") as archive:
                for at in range(given.archive):
                    archive.write(bytes([at % 251]) * (1 << 20))
        if given.certificate:
            front.certificate(given.certificate)
        if given.postgres:
            front.postgres()
        if given.names:
            group.add(sys.executable, common.HERE / "names.py", *given.names.split())
        if given.back:
            back = Stack(group, "127.0.0.1", str(behind), 0)
            kind, *words = shlex.split(given.back)
            back.kind = kind
            back.kinds[kind](*words)
            common.until_open(behind)
        front.kind = given.kind
        front.kinds[given.kind](*map(front.fill, given.words))
        group.watch()


if __name__ == "__main__":
    main()
