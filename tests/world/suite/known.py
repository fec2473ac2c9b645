"""What is known to differ and is to be mended: known.toml. A case that passes must leave it."""

import tomllib
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

FILE = Path(__file__).with_name("known.toml")


@dataclass(frozen=True)
class Known:
    """Patterns of `SITE | CLIENT | SCENARIO`, each with its reason."""

    cases: dict[str, str]
    sometimes: frozenset[str]
    """Those that do not differ each time, and may pass."""

    @classmethod
    def read(cls) -> "Known":
        """From the file."""
        read = tomllib.loads(FILE.read_text())
        known = read.get("known", [])
        sometimes = frozenset(one["case"] for one in known if one.get("sometimes"))
        return cls({one["case"]: one["reason"] for one in known}, sometimes)

    def pattern(self, case: str) -> str | None:
        """The first that this case is of."""
        return next((pattern for pattern in self.cases if fnmatchcase(case, pattern)), None)
