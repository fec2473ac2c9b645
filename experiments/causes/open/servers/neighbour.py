"""Another program: uses a processor all the time, or in pulses.

neighbour.py [MILLISECONDS EVERY-MILLISECONDS]
"""

import sys
import time


def work(seconds):
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        sum(range(1000))


def main():
    if len(sys.argv) == 1:
        while True:
            work(1)
    at_work, every = (float(word) / 1e3 for word in sys.argv[1:])
    while True:
        began = time.perf_counter()
        work(at_work)
        time.sleep(max(0, began + every - time.perf_counter()))


main()
