"""Version ranges as poetry and conda write them, turned into pip's own; and back, as far as a pin is changed in place."""

from __future__ import annotations

from gpuassist.formats.packages import normalised
from gpuassist.formats.project.values import AskedAs, ProjectRequirement, Spelling, Spot
from gpuassist.model.lazy_regex import lazy_regex

_LONGEST = 500
_NUMBER = r"\d{1,9}(?:\.\d{1,9})*"
_CARET = lazy_regex(rf"\^[ ]*({_NUMBER})\S*")
_TILDE = lazy_regex(rf"~[ ]*({_NUMBER})\S*")
_CLAUSE = lazy_regex(r"(?:===?|[<>~!]=|[<>])\s*[\w.*+!-]+")
_PLAIN = lazy_regex(rf"{_NUMBER}(?:\.\*|[\w.+-]*)")
_CONDA = lazy_regex(
    r"(?:(?P<channel>[\w./:-]+)::)?(?P<name>[A-Za-z0-9_][\w.-]*)(?:\[[^\]]*\])?"
    r"(?:[ ]*(?P<versions>(?:[=<>!~]=?|(?<=\s)(?=\d))\s*[\w.*+!,|<>=~]*?[\w.*+!])(?:(?:=|\s+)(?P<build>[\w.*+]+))?)?\s*"
)


def of_poetry(spelled: str) -> str | None:
    """`^2.0` as `>=2.0,<3`; None where it is neither poetry's nor pip's."""
    if len(spelled) > _LONGEST:
        return None
    clauses: list[str] = []
    for part in spelled.split(",") if "," in spelled else [spelled]:
        words = part.strip()
        caret, tilde = _CARET.fullmatch(words), _TILDE.fullmatch(words)
        if words in {"*", ""}:
            continue
        if caret is not None:
            clauses += [f">={caret[1]}", f"<{_next(caret[1])}"]
        elif tilde is not None:
            numbers = tilde[1].split(".")
            end = [numbers[0], str(int(numbers[1]) + 1)] if len(numbers) > 1 else [str(int(numbers[0]) + 1)]
            clauses += [f">={tilde[1]}", f"<{'.'.join(end)}"]
        elif _CLAUSE.fullmatch(words):
            clauses.append("".join(words.split()))
        elif _PLAIN.fullmatch(words):
            clauses.append(f"=={words}")
        else:
            return None
    return ",".join(clauses)


def _next(version: str) -> str:
    """The first version that `^` shuts out: the next of the leftmost number that is not zero."""
    numbers = [int(one) for one in version.split(".")]
    place = next((place for place, number in enumerate(numbers) if number), len(numbers) - 1)
    return ".".join(map(str, (*numbers[:place], numbers[place] + 1)))


def of_conda(words: str, spot: Spot, offset: int = -1, group: str = "") -> ProjectRequirement | None:
    """A package as conda's match specifications write it, `pytorch=2.0.1=py3.9_cuda11.7*`; None where the words are none."""
    found = _CONDA.fullmatch(words) if len(words) <= _LONGEST else None
    if found is None:
        return None
    spelled, build = found["versions"] or "", found["build"] or ""
    versions: str | None = ""
    if spelled:
        bare = "".join(spelled.split())
        if "|" in bare:
            versions = ""
        elif bare.startswith("=") and not bare.startswith("=="):
            versions = f"=={bare[1:].removesuffix('.*').removesuffix('*')}.*" if bare[1:].strip("*.") else ""
        elif bare[0].isdigit():
            versions = f"=={bare}"
        else:
            versions = bare
    first, end = found.span("versions") if spelled else (found.end("name"), found.end("name"))
    place = Spot(spot.file, spot.line, offset + first, offset + end) if offset >= 0 else spot
    return ProjectRequirement(
        normalised(found["name"]),
        versions or "",
        place,
        spelled=spelled,
        spelling=Spelling.CONDA,
        build=build,
        channel=found["channel"] or "",
        origin=AskedAs.INSTALL,
        group=group,
    )
