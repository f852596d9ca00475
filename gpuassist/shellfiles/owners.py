"""Which tool's a line of a start-up file is: the marked blocks that tools keep, and commands that hand the variables to one."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator

from gpuassist.model.lazy_regex import lazy_regex
from gpuassist.shellfiles.statements import Assignment

_VARIABLES = {"PYENV_ROOT": "pyenv", "NVM_DIR": "nvm", "CONDA_PREFIX": "conda", "BUN_INSTALL": "bun", "CARGO_HOME": "cargo"}
MODULES = "environment modules"
_CHANGING = frozenset(
    {"load", "add", "try-load", "switch", "swap", "unload", "rm", "del", "purge", "restore", "use", "unuse", "reset"}
)
_ACTIVATING = frozenset({"conda", "mamba", "micromamba"})
_RUN = lazy_regex(r"\$\(\s*(?:[^\s)]*/)?([A-Za-z][\w.-]*)\s+([^)]*)")
_HOOKS = ("init", "hook", "shellenv", "env", "activate", "shell.", "load", "bash", "zsh", "fish", "export")


def tool_of(words: tuple[str, ...]) -> str:
    """The tool to which a command, its words as written, hands the variables; empty where it is none that we know."""
    name, first = words[0].lstrip("\\"), words[1] if len(words) > 1 else ""
    if name == "module":
        return MODULES if first in _CHANGING else ""
    if name == "ml":  # Lmod's short form: a name alone means load
        return MODULES if (first and not first.startswith("-")) or (first.startswith("-") and "/" in first) else ""
    if name == "spack":
        return "spack" if first in {"load", "unload", "env"} else ""
    if name in _ACTIVATING:
        return "conda" if first in {"activate", "deactivate"} else ""
    found = _RUN.search(" ".join(words[1:]).replace('"', "").replace("'", "")) if name == "eval" else None
    if not found or not any(found[2].lstrip().startswith(hook) or f" {hook}" in found[2] for hook in _HOOKS):
        return ""
    return MODULES if found[1] in {"modulecmd", "modulecmd.tcl", "lmod"} else found[1]


class Owners:
    """Who keeps which part of a file; each comment is its words, where it begins and where it ends."""

    def __init__(self, comments: Iterable[tuple[str, int, int]]) -> None:
        self._blocks = sorted(_marked_blocks(comments), key=lambda block: block[1])

    def lines(self, line_of: Callable[[int], int]) -> tuple[tuple[str, int, int], ...]:
        """Each block's tool, first and last line."""
        return tuple((owner, line_of(first), line_of(end)) for owner, first, end in self._blocks)

    def of(self, place: int, assignments: tuple[Assignment, ...]) -> str:
        """The tool in whose marked block a place lies, or whose variable its assignments use; empty where it is the user's."""
        nearest = bisect_right(self._blocks, place, key=lambda block: block[1]) - 1
        if nearest >= 0 and place < self._blocks[nearest][2]:
            return self._blocks[nearest][0]
        used = frozenset().union(*(assignment.uses for assignment in assignments))
        return next((owner for name, owner in _VARIABLES.items() if name in used), "")


def _marked_blocks(comments: Iterable[tuple[str, int, int]]) -> Iterator[tuple[str, int, int]]:
    """Blocks between marker comments, `# >>> conda initialize >>>` or `# BEGIN ANSIBLE MANAGED BLOCK`, as (name, first, end)."""
    opened: dict[str, int] = {}
    for comment, first, end in comments:
        words = comment.lstrip("# ").rstrip()
        if words.startswith((">>> ", "BEGIN ")):
            opened[_marker_name(words)] = first
        elif words.startswith(("<<< ", "END ")) and _marker_name(words) in opened:
            yield _marker_name(words), opened.pop(_marker_name(words)), end


def _marker_name(words: str) -> str:
    name = words.split(" ", 1)[1].strip("<> ")
    return "gpuassist" if name.startswith("gpuassist") else name
