"""Pages of pages.py by gunicorn: wsgi.py ADDRESS PORT PAGE [OPTIONS]"""

import argparse
import contextlib
import os
import shlex
import sqlite3

import together


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("address")
    parser.add_argument("port", type=int)
    parser.add_argument("page")
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE")
    parser.add_argument("--resolver", metavar="'OPTIONS'", help="of resolver.py, which is then run as well")
    parser.add_argument("--neighbour", metavar="'OPTIONS'", help="of neighbour.py, which is then run as well")
    parser.add_argument("--records", type=int, default=0, metavar="MB", help="size of the file of records")
    given = parser.parse_args()
    with together.Programs() as programs:
        with contextlib.closing(sqlite3.connect(programs.directory / "bookings")) as database:
            database.execute("CREATE TABLE seats (taken INTEGER)")
            database.execute("INSERT INTO seats VALUES (0)")
            database.commit()
        with (programs.directory / "records").open("wb") as records:
            for _ in range(given.records):
                records.write(os.urandom(1 << 10) * (1 << 10))
            os.fsync(records.fileno())
        settings = dict(setting.split("=", 1) for setting in given.set)
        if given.resolver:
            words = shlex.split(given.resolver)
            settings["RESOLVER"] = words[0]
            programs.python("resolver.py", *words)
        if given.neighbour:
            programs.neighbour(*shlex.split(given.neighbour))
        programs.start(
            together.GUNICORN,
            f"--bind={given.address}:{given.port}",
            f"--workers={given.workers}",
            f"--threads={given.threads}",
            f"--worker-class={'gthread' if given.threads > 1 else 'sync'}",
            "--backlog=1024",
            "--graceful-timeout=1",
            f"pages:{given.page}",
            cwd=together.HERE,
            env=dict(os.environ, DIRECTORY=str(programs.directory), PYTHONDONTWRITEBYTECODE="1", **settings),
        )
        programs.wait()


if __name__ == "__main__":
    main()
