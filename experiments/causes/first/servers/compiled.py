"""A Go or Java server, compiled when it is first started; it then takes the place of this program.

compiled.py [--java OPTION]... SOURCE ARGUMENTS
"""

import os
import sys

import together


def main():
    words, options = sys.argv[1:], []
    while words[0] == "--java":
        options.append(words[1])
        words = words[2:]
    program, *rest = together.compiled(words[0])
    os.execvp(program, [program, *options, *rest, *words[1:]])


if __name__ == "__main__":
    main()
