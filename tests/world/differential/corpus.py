"""The corpus of the gate's own tests, with more beside it; crates/gate/tests/common/corpus.rs says what a file is."""

import re

from common.processes import ROOT

CORPUS = ROOT / "crates" / "gate" / "tests" / "corpus"

REPETITION = re.compile(rb"\{([^{}]*)\*(\d+)\}")
ESCAPE = re.compile(rb"\\(x[0-9a-fA-F]{2}|.)")
ESCAPES = {b"r": b"\r", b"n": b"\n", b"t": b"\t", b"\\": b"\\"}


def unescape(text: bytes) -> bytes:
    """The bytes that a text of the corpus stands for."""
    text = REPETITION.sub(lambda found: found[1] * int(found[2]), text)

    def one(found: re.Match) -> bytes:
        word = found[1]
        return bytes([int(word[1:], 16)]) if word[:1] == b"x" else ESCAPES[word]

    return ESCAPE.sub(one, text)


def requests() -> dict[str, bytes]:
    """The bytes of each file, by its name."""
    found = {}
    for file in sorted(CORPUS.glob("*.request")):
        text = file.read_bytes().split(b"\n\n", 1)[1]
        found[file.stem] = b"".join(unescape(line) for line in text.split(b"\n"))
    return found
