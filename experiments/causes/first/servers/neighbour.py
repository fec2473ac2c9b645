"""Another program on the processor of a server, such as one that compresses logs.

    neighbour.py PID [--copies N] [--nice N] [--busy SECONDS --every SECONDS]

It leaves its parent and its session, and ends with the process PID.
"""

import argparse
import os
import pathlib
import time
import zlib

# Sessions share the processor among them, whatever the nice values of their processes are (sched(7)).
AUTOGROUP = pathlib.Path("/proc/self/autogroup")
LOG = b"".join(b"192.0.2.%d - - GET /items/%d 200 %d\n" % (n % 251, n * 7919 % 10007, n * 31 % 997) for n in range(400))


def compress(server, busy, every):
    while server.exists():
        begun = time.monotonic()
        while not busy or time.monotonic() < begun + busy:
            zlib.compress(LOG, 9)
            if not busy and time.monotonic() > begun + 0.5:
                break
        time.sleep(max(0, every - (time.monotonic() - begun)))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("pid")
    parser.add_argument("--copies", type=int, default=1)
    parser.add_argument("--nice", type=int, default=0)
    parser.add_argument("--busy", type=float, default=0)
    parser.add_argument("--every", type=float, default=0)
    given = parser.parse_args()
    server = pathlib.Path("/proc") / given.pid
    for _ in range(given.copies):
        if not os.fork():
            os.setsid()
            os.setpriority(os.PRIO_PROCESS, 0, given.nice)
            if AUTOGROUP.exists():
                AUTOGROUP.write_text(str(given.nice))
            compress(server, given.busy, given.every)
            os._exit(0)


if __name__ == "__main__":
    main()
