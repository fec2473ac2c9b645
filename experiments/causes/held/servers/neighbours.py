"""Another program on the same processor: neighbours.py COUNT. So many processes count, until this one has ended."""

import os
import signal
import sys


def main():
    this = os.getpid()
    for _ in range(int(sys.argv[1])):
        if os.fork() == 0:
            while os.getppid() == this:
                for _ in range(200_000):
                    pass
            os._exit(0)
    signal.pause()


if __name__ == "__main__":
    main()
