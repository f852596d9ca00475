"""The Python in a pasted text with what it printed: behind `python -c`, in a `>>>` or IPython session, in a notebook's cell."""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec import Struct

from gpuassist.detect.readers.commands import answer
from gpuassist.detect.readers.lines import Line, lines
from gpuassist.model.lazy_regex import lazy_regex
from gpuassist.model.paste import Paste

_COMMAND = lazy_regex(r"\bpython[\w.]{0,8}\s+(?:-[A-Zuvm]{1,4}\s+){0,3}-c\s+(?P<quote>[\"'])(?P<code>[^\n]*)$")
_DOCUMENT = lazy_regex(r"\bpython[\w.]{0,8}\s+(?:-\s*)?<<\s*-?['\"]?(?P<end>\w{2,12})['\"]?\s*$")
_PROMPT = lazy_regex(r"^(?:> ?){0,2}>>> ?(?P<code>[^\n]*)$")
_MORE = lazy_regex(r"^(?:> ?){0,2}\.\.\. ?(?P<code>[^\n]*)$")
_IN = lazy_regex(r"^(?:> ?){0,2}In ?\[\d{0,4}\]: ?(?P<code>[^\n]*)$")
_IN_MORE = lazy_regex(r"^(?:> ?){0,2}\s{1,12}\.\.\.: ?(?P<code>[^\n]*)$")
_OUT = lazy_regex(r"^(?:> ?){0,2}Out ?\[\d{0,4}\]: ?")
_CELL = lazy_regex(r"^\s{0,4}(?:import |from torch|print\(|torch\.)[^\n]{2,300}$")
_IMPORT = lazy_regex(r"^(?:import|from) [\w., ]{1,80}$")
_MOST_CODE = 40  # lines of one command, statement or cell
_MOST_OUTPUT = 200


class Exchange(Struct, frozen=True):
    """A piece of code and the lines below it; `echoed` where the value of a bare expression is shown."""

    code: str
    output: tuple[Line, ...]
    echoed: bool


def exchanges(paste: Paste) -> Iterator[Exchange]:
    """Every piece of code that may ask torch something."""
    if "python" in paste.words:
        yield from _commands(paste)
    raw = tuple(Line(number, words.rstrip()) for number, words in enumerate(paste.words.split("\n"), 1))
    if ">>>" in paste.words:
        yield from _session(raw, _PROMPT, _MORE)
    if "In [" in paste.words or "In[" in paste.words:
        yield from _session(raw, _IN, _IN_MORE)
    # Lines of code without any prompt, as they are copied from a notebook, and what stands below them.
    every = lines(paste)
    place = 0
    while place < len(every):
        start = place
        while place < min(len(every), start + _MOST_CODE) and _CELL.match(every[place].words):
            place += 1
        if place > start:
            code = "\n".join(line.words.strip() for line in every[start:place])
            if "torch." in code:
                yield Exchange(code, answer(paste, place), echoed=True)
        place = max(place, start + 1)


def _commands(paste: Paste) -> Iterator[Exchange]:
    every = lines(paste)
    for place, line in enumerate(every):
        if "python" not in line.words or len(line.words) > 4000:
            continue
        command, document = _COMMAND.search(line.words), _DOCUMENT.search(line.words)
        if command:
            code, after = _quoted(every, place, command)
            yield Exchange(code, answer(paste, after), echoed=False)
        elif document:
            start = place + 1
            word = document["end"]
            stop = min(len(every), start + _MOST_CODE)
            end = next((at for at in range(start, stop) if every[at].words.strip() == word), stop)
            code, after = ("\n".join(line.words for line in every[start:end]), end + 1)
            yield Exchange(code, answer(paste, after), echoed=False)


def _quoted(every: tuple[Line, ...], place: int, command: re.Match[str]) -> tuple[str, int]:
    """The code up to its closing quote, which may stand on a later line, and the place after it."""
    quote, code = command["quote"], command["code"]
    pieces = [code]
    while quote not in pieces[-1].replace(f"\\{quote}", "") and len(pieces) < min(_MOST_CODE, len(every) - place):
        pieces.append(every[place + len(pieces)].words)
    whole = "\n".join(pieces)
    end = whole.rfind(quote)
    return (whole[:end] if end >= 0 else whole).replace(f"\\{quote}", quote), place + len(pieces)


def _session(raw: tuple[Line, ...], prompt: re.Pattern[str], more: re.Pattern[str]) -> Iterator[Exchange]:
    """Statement by statement; what was imported above still holds."""
    imports: list[str] = []
    starts = [(place, found["code"]) for place, line in enumerate(raw) if (found := prompt.match(line.words[:4000]))]
    ends = [place for place, _ in starts[1:]] + [len(raw)] * bool(starts)
    for (place, code), end in zip(starts, ends, strict=True):
        pieces, at = [code], place + 1
        while at < min(end, place + _MOST_CODE) and (found := more.match(raw[at].words)):
            pieces.append(found["code"])
            at += 1
        if _IMPORT.match(code) and len(imports) < _MOST_CODE:
            imports.append(code)
        output = tuple(Line(line.number, _OUT.sub("", line.words)) for line in raw[at : min(end, at + _MOST_OUTPUT)])
        yield Exchange("\n".join([*imports, *pieces]), output, echoed=True)
