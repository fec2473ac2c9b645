"""Runs several programs as one, until it is ended or one of them ends by itself.

together.py [NAME=VALUE...] PROGRAM... -- PROGRAM...

The values are put into the environment of all.
"""

import itertools
import os
import signal
import subprocess
import sys
import time


def main():
    words = sys.argv[1:]
    values = list(itertools.takewhile(lambda word: "=" in word and not word.startswith("-"), words))
    environment = {**os.environ, **dict(value.split("=", 1) for value in values)}
    groups = itertools.groupby(words[len(values) :], lambda word: word == "--")
    commands = [list(group) for is_between, group in groups if not is_between]
    programs = []

    def end(*_):
        for program in programs:
            program.terminate()
        for program in programs:
            try:
                program.wait(3)
            except subprocess.TimeoutExpired:
                program.kill()
        sys.exit(0)

    signal.signal(signal.SIGTERM, end)
    signal.signal(signal.SIGINT, end)
    programs.extend(subprocess.Popen(command, env=environment) for command in commands)
    while all(program.poll() is None for program in programs):
        time.sleep(0.2)
    end()


main()
