"""A server, and another program on its processor: beside.py "OPTIONS OF neighbour.py" SOURCE ARGUMENTS."""

import sys

import together


def main():
    options, source, *rest = sys.argv[1:]
    with together.Programs() as programs:
        programs.neighbour(*options.split())
        programs.start(*together.compiled(source), *rest)
        programs.wait()


if __name__ == "__main__":
    main()
