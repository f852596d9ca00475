"""Which tool a command of a start-up file hands the variables to: modules, conda, and what `eval "$(tool init)"` runs."""

from __future__ import annotations

import re

_MODULES = "environment modules"
_CHANGING = frozenset(
    {"load", "add", "try-load", "switch", "swap", "unload", "rm", "del", "purge", "restore", "use", "unuse", "reset"}
)
_ACTIVATING = frozenset({"conda", "mamba", "micromamba"})
_RUN = re.compile(r"\$\(\s*(?:[\"']?[^\s\"')]*/)?([A-Za-z][\w.-]*)[\"']?\s+([^)]*)")
_HOOKS = ("init", "hook", "shellenv", "env", "activate", "shell.", "load", "bash", "zsh", "fish", "export")


def tool_of(words: tuple[str, ...]) -> str:
    """The tool to which a command, its words as written, hands the variables; empty where it is none that we know."""
    name, first = words[0].lstrip("\\"), words[1] if len(words) > 1 else ""
    if name == "module":
        return _MODULES if first in _CHANGING else ""
    if name == "ml":  # Lmod's short form: a name alone means load
        return _MODULES if (first and not first.startswith("-")) or (first.startswith("-") and "/" in first) else ""
    if name == "spack":
        return "spack" if first in {"load", "unload", "env"} else ""
    if name in _ACTIVATING:
        return "conda" if first in {"activate", "deactivate"} else ""
    return _evaluated(" ".join(words[1:])) if name == "eval" else ""


def _evaluated(words: str) -> str:
    found = _RUN.search(words)
    if not found or not any(found[2].lstrip().startswith(hook) or f" {hook}" in found[2] for hook in _HOOKS):
        return ""
    return _MODULES if found[1] in {"modulecmd", "modulecmd.tcl", "lmod"} else found[1]
