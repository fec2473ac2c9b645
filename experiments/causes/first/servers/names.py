"""A Go server whose pages look names up: names.py ADDRESS PORT RESOLVER OPTIONS (those of resolver.py)."""

import sys

import together


def main():
    address, port, resolver, *options = sys.argv[1:]
    with together.Programs() as programs:
        programs.python("resolver.py", resolver, *options)
        programs.start(*together.compiled("names.go"), address, port, resolver)
        programs.wait()


if __name__ == "__main__":
    main()
