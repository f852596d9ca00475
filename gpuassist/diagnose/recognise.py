"""All signatures over one text: every passage that points to a problem of the catalogue."""

from __future__ import annotations

import pkgutil
from collections.abc import Iterator
from functools import cache

from msgspec import Struct

from gpuassist.diagnose import signatures
from gpuassist.diagnose.judge import survived
from gpuassist.diagnose.signature import Signature, SignatureInput, clues
from gpuassist.model.finding import Undetermined
from gpuassist.model.paste import Clue


@cache
def families() -> dict[str, tuple[Signature, ...]]:
    """Every family of signatures by its module's name."""
    names = sorted(module.name for module in pkgutil.iter_modules(signatures.__path__))
    return {name: pkgutil.resolve_name(f"{signatures.__name__}.{name}:SIGNATURES") for name in names}


class Recognised(Struct, frozen=True):
    """The passages that point to problems, in the order of the text; `failed` are our own signatures that broke on it."""

    clues: tuple[Clue, ...] = ()
    failed: tuple[Undetermined, ...] = ()


def recognise(setting: SignatureInput) -> Recognised:
    """What the text shows."""
    found = list(dict.fromkeys(_found(setting)))
    shown = [one for one in found if isinstance(one, Clue)]
    failed = tuple(one for one in found if isinstance(one, Undetermined))
    return Recognised(tuple(sorted(shown, key=lambda clue: (clue.passage.line, -clue.weight))), failed)


def _found(setting: SignatureInput) -> Iterator[Clue | Undetermined]:
    for name, family in families().items():
        for signature in family:
            if setting.says(*signature.literals):
                yield from survived(f"{name}: {signature.literals[0]}", clues, signature, setting)
