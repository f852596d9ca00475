"""The error lines that a shell itself prints while it reads start-up files, found in all that was printed meanwhile."""

from __future__ import annotations

import re

AT_MOST = 20
_LONGEST = 300
# CSI, OSC and DCS sequences, escapes of two or three signs, and all other control characters but the end of a line.
_ESCAPES = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b[]PX^_].*?(?:\x07|\x1b\\)|\x1b[ -/]*[0-~]|[\x00-\x08\x0b-\x1f\x7f-\x9f]", re.DOTALL
)
_ERROR = re.compile(
    r"-?(?:/\S*/)?(?:bash|sh|dash|ksh|mksh): .*"  # bash: command not found; bash: /root/.bashrc: line 3: syntax error
    r"|\S.*: line \d+: .*"  # /root/.bashrc: line 3: …
    r"|(?:/dev/)?[^\s:][^:]*: \d+: .*"  # dash: /root/.profile: 3: foo: not found
    r"|(?:zsh:)?(?:\(\w+\)|[^\s:][^:]*):\d+: .*"  # zsh: /root/.zshrc:11: no matches found: …
    r"|(?:fish|source): .*"
    r"|\S.* \(line \d+\):.*"  # fish: ~/.config/fish/config.fish (line 3): …
)
# bash says these where a shell without a terminal is made to be interactive; they are none of the user's files.
_OURS = re.compile(r"(?:no job control in this shell|cannot set terminal process group)")


def complaints(printed: str) -> tuple[str, ...]:
    """Those lines, each once, cleaned of escape sequences."""
    lines = (line.strip() for line in _ESCAPES.sub("", printed.replace("\r\n", "\n")).replace("\r", "\n").split("\n"))
    found = (line[:_LONGEST] for line in lines if _ERROR.fullmatch(line) and not _OURS.search(line))
    return tuple(dict.fromkeys(found))[:AT_MOST]


def plain(printed: str) -> str:
    """What was printed without escape sequences and control characters."""
    return _ESCAPES.sub("", printed.replace("\r\n", "\n"))
