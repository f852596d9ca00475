"""Writes which words each family of messages looks for, so that explaining a line loads only the families that it may concern.

`python -m tools.family_words` after a literal of a message was changed; a test says when it is due.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path

from gpuassist.diagnose.judge import families
from gpuassist.diagnose.signature import Signature
from gpuassist.knowledge.tables import Knowledge
from gpuassist.system.resources import Resources

FILE = Path(__file__).resolve().parent.parent / "gpuassist" / "diagnose" / "family_words.py"
_HEAD = '''"""The literals of every family of messages, a line each: written by `tools/family_words.py`."""

from __future__ import annotations

FAMILY_WORDS: dict[str, tuple[str, ...]] = {
'''
_SENTENCES = """\
# The sentences of the table of codes.
CODE_SENTENCES: tuple[str, ...] = """


def written() -> str:
    """What the file should hold."""
    lines = (f"    {name!r}: {_words(family)!r},\n" for name, family in families().items())
    return f"{_HEAD}{''.join(lines)}}}\n{_SENTENCES}{_shortest(Knowledge(Resources().read).codes.sentences)!r}\n"


def _words(family: tuple[Signature, ...]) -> tuple[str, ...]:
    return _shortest(literal for signature in family for literal in signature.literals)


def _shortest(words: Iterable[str]) -> tuple[str, ...]:
    every = sorted(set(words), key=lambda one: (len(one), one))
    # What holds a shorter one is found with it.
    kept: list[str] = []
    for one in every:
        if not any(other in one for other in kept):
            kept.append(one)
    return tuple(sorted(kept))


def main() -> int:
    """Writes the file."""
    FILE.write_text(written(), "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
