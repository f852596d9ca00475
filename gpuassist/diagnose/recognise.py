"""All signatures over one text: every passage that points to a problem of the catalogue."""

from __future__ import annotations

import pkgutil
from functools import cache

from gpuassist.diagnose import signatures
from gpuassist.diagnose.signature import Setting, Signature, clues
from gpuassist.model.paste import Clue


@cache
def families() -> dict[str, tuple[Signature, ...]]:
    """Every family of signatures by its module's name."""
    names = sorted(module.name for module in pkgutil.iter_modules(signatures.__path__))
    return {name: pkgutil.resolve_name(f"{signatures.__name__}.{name}:SIGNATURES") for name in names}


def recognise(setting: Setting) -> tuple[Clue, ...]:
    """What the text shows, in the order in which it shows it."""
    found = {
        clue
        for family in families().values()
        for signature in family
        if setting.says(*signature.literals)
        for clue in clues(signature, setting)
    }
    return tuple(sorted(found, key=lambda clue: (clue.passage.line, -clue.weight, clue.problem)))
