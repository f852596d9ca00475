"""The commands in a pasted text, each with what it printed: behind a prompt of any shell, in a notebook, or bare on a line."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from msgspec import Struct

from gpuassist.detect.readers.lines import Line, lines
from gpuassist.model.lazy_regex import lazy_regex
from gpuassist.model.paste import Paste

# `(env) user@host:~/x$ `, `[root@host ~]# `, `~ $ `, `$ `, `% `, `❯ `, `➜  x git:(main) ✗ `, `In [3]: !`, `!`.
_PROMPT = lazy_regex(
    r"^[ \t]{0,4}(?:\([^()\s]{1,60}\)[ \t]{0,2}){0,3}"
    r"(?:(?:[\w.-]{1,60}@[\w.-]{1,80}[: ][^\s$#%❯]{0,200}[ \t]?|\[[^\[\]]{1,120}\][ \t]?|[~/][^\s$#%❯]{0,200}[ \t]?)?"
    r"[$#%❯»λ][ \t]{1,4}"
    r"|(?:[\w.-]{1,60}@[\w.-]{1,80}[: ][^\s$#%❯]{0,200}|\[[^\[\]]{1,120}\])[$#%]"
    r"|➜[ \t]{1,4}\S{1,80}[ \t](?:git:\(\S{1,60}\)[ \t])?(?:✗[ \t])?"
    r"|(?:In \[\d{1,4}\]:[ \t])?!)"
    r"(?P<command>\S[^\n]*)$"
)
_BARE_PROMPT = lazy_regex(r"^(?:\([^()\s]{1,60}\)[ \t])?[\w.-]{1,60}@[\w.-]{1,80}:[^\s$#%]{0,200}[$#%]$")
# What nobody writes in a sentence, and nobody prints.
_BARE = lazy_regex(
    r"^[ \t]{0,8}(?P<command>(?:sudo )?(?:"
    r"echo \"?\$\{?\w+\}?\"?|printenv \w+|(?:env|printenv) ?\| ?e?grep [^\n]{1,60}"
    r"|(?:which|whereis|type|command -v) (?:-a )?[\w+.-]+"
    r"|ls(?: -[A-Za-z1]{1,6})?(?: (?:--?[\w=-]+|/[\w./*-]+)){1,3}(?: ?\| ?e?grep [^\n]{1,40})?"
    r"|uname -[a-z]{1,4}|lsmod(?: ?\| ?e?grep [^\n]{1,60})?|lspci(?: -[a-z]{1,5})?(?: ?\| ?e?grep [^\n]{1,60})?"
    r"|dkms status|mokutil --sb-state|modinfo [\w-]+|cat /etc/os-release|lsb_release -\w{1,4}|python3? (?:--version|-V)))[ \t]*$"
)
_MOST = 2000  # lines that a command prints, at most


class PastedCommand(Struct, frozen=True):
    """A command and its output; `ended` where another prompt follows, so that the output is whole."""

    number: int
    command: str
    output: tuple[Line, ...]
    ended: bool

    @property
    def silent(self) -> bool:
        """Whether it printed nothing, for sure."""
        return self.ended and not any(line.words.strip() for line in self.output)


def runs(paste: Paste, *literals: str) -> Iterator[PastedCommand]:
    """The commands that hold any of the literals."""
    if any(literal in paste.words for literal in literals):
        yield from (run for run in _runs(paste) if any(literal in run.command for literal in literals))


def answer(paste: Paste, place: int, most: int = 200) -> tuple[Line, ...]:
    """The lines from a place on, counted from 0, up to the next prompt, and no more than so many."""
    some = lines(paste)[place : place + most]
    return some[: next((at for at, line in enumerate(some) if _command(line.words) is not None), most)]


@lru_cache(2)
def _runs(paste: Paste) -> tuple[PastedCommand, ...]:
    every = lines(paste)
    starts = tuple((place, command) for place, line in enumerate(every) if (command := _command(line.words)) is not None)
    ends = [place for place, _ in starts[1:]] + [len(every)] * bool(starts)
    return tuple(
        PastedCommand(every[place].number, command, every[place + 1 : min(end, place + 1 + _MOST)], ended=end < len(every))
        for (place, command), end in zip(starts, ends, strict=True)
        if command
    )


def _command(words: str) -> str | None:
    """The command of a line; empty at a prompt that still waits for one, None where the line is no prompt."""
    if len(words) > _MOST:
        return None
    found = _PROMPT.match(words) or _BARE.match(words)
    if found:
        return found["command"].strip()
    return "" if _BARE_PROMPT.match(words) else None
