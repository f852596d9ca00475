"""Which of two versions of a package is the newer one, where a log does not say."""

from __future__ import annotations

from gpuassist.model.lazy_regex import lazy_regex
from gpuassist.model.past import PackageAction

_PARTS = lazy_regex(r"(\D*)(\d*)")
_LONGEST = 256  # characters of a version
_Key = tuple[tuple[str, int], ...]
# A tilde comes before the end of a part, letters before all other signs.
_END = "\x02"
_RANKS = {code: chr(code + 256) for code in range(128) if not chr(code).isalpha()} | {ord("~"): "\x01"}


def exchange(before: str, after: str) -> PackageAction:
    """What it is that `after` came in the place of `before`."""
    if before == after:
        return PackageAction.REINSTALLED
    return PackageAction.UPGRADED if _key(before) < _key(after) else PackageAction.DOWNGRADED


def _key(version: str) -> tuple[int, _Key, _Key]:
    """deb-version(7), sorting algorithm; rpm's differs only in what no version of a GPU's packages has (`^`)."""
    epoch, colon, rest = version[:_LONGEST].partition(":")
    if not colon or not (epoch.isascii() and epoch.isdigit()):
        epoch, rest = "0", version[:_LONGEST]
    upstream, _, revision = rest.rpartition("-") if "-" in rest else (rest, "", "")
    return int(epoch), _parts(upstream), _parts(revision)


def _parts(words: str) -> _Key:
    found = (_PARTS.findall(words) if words.isascii() else [(words, "")])[:100]
    ranked = [(letters.translate(_RANKS) + _END, int(digits or 0)) for letters, digits in found if letters or digits]
    return (*ranked, (_END, 0))
