"""Another program on a server's processor, that indexes documents: indexer.py COPIES BUSY EVERY [FIFO]

It computes BUSY ms of each EVERY ms, or all the time where that is 0; with FIFO whenever it likes.
"""

import hashlib
import os
import signal
import sys
import time

DOCUMENT = b"lorem ipsum dolor sit amet " * 400


def index(busy, every):
    while True:
        begun = time.monotonic()
        while not every or time.monotonic() < begun + busy:
            hashlib.sha512(DOCUMENT).digest()
        time.sleep(max(0, begun + every - time.monotonic()))


def main():
    copies, busy, every, *fifo = sys.argv[1:]
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    for _ in range(int(copies) - 1):
        if not os.fork():
            break
    if fifo:
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(10))
    index(float(busy) / 1000, float(every) / 1000)


if __name__ == "__main__":
    main()
