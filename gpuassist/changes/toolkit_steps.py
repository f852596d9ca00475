"""What a toolkit's plan does, in words and in lines for a terminal that is open.

The lines take the other toolkits' directories out, which `source` does not do."""

from __future__ import annotations

from collections.abc import Iterator
from shlex import quote

from gpuassist.changes.choice import version_of
from gpuassist.changes.line_plan import step_of
from gpuassist.model.fact import Fact, Known
from gpuassist.model.plan import FileEdit, Step, StepKind
from gpuassist.model.shell import Terminal
from gpuassist.model.text import Text, text
from gpuassist.model.toolkit import Toolkit
from gpuassist.shellfiles.block import quoted_for
from gpuassist.shellfiles.dialect import Dialect
from gpuassist.shellfiles.toolkits import HOMES, InstalledToolkits, Lead


def goal_of(toolkit: Toolkit) -> Text:
    return text("Use CUDA {version} in {root} in new terminals", version=version_of(toolkit), root=toolkit.root)


def steps_of(edits: tuple[FileEdit, ...], toolkit: Toolkit, main: str) -> tuple[Step, ...]:
    """An edit for each file, of which `main` is the one that a new terminal reads; then the terminal in which it holds."""
    nvcc = f"{toolkit.root}/bin/nvcc"
    found = text("a new terminal finds {nvcc}", nvcc=nvcc)
    terminal = Step(
        StepKind.NEW_SHELL,
        text(
            "Open a new terminal: terminals that are already open keep their settings, even after `source`, "
            "which removes nothing. To change one of them, paste the lines below into it."
        ),
        check=text("`command -v nvcc` prints {nvcc}", nvcc=nvcc),
    )
    steps = []
    for edit in edits:
        words = text("Change the lines of {path} that lead to another toolkit", path=edit.path)
        if edit.path == main:
            words = text("Make {path} lead to CUDA {version}", path=edit.path, version=version_of(toolkit))
        steps.append(step_of(edit, words, found))
    return (*steps, terminal)


_LOADER = "LD_LIBRARY_PATH"


def paste_toolkit(installed: InstalledToolkits, libraries: str, terminal: Fact[Terminal], dialect: Dialect) -> tuple[str, ...]:
    """Lines for the shell of that dialect; `libraries` is empty where LD_LIBRARY_PATH is to hold nothing of the toolkit."""
    fish = dialect is Dialect.FISH
    return tuple(_fish(installed, libraries, terminal) if fish else _posix(installed, libraries, terminal))


def _posix(installed: InstalledToolkits, libraries: str, terminal: Fact[Terminal]) -> Iterator[str]:
    root = installed.chosen.root
    homes = {"CUDA_HOME": root} | dict(_homes(installed, terminal))
    yield "export " + " ".join(f"{name}={quote(value)}" for name, value in homes.items())
    yield f"export PATH={quote(root + '/bin')}:{_without('PATH', _old(installed, terminal, 'PATH'))}"
    old = _old(installed, terminal, _LOADER)
    if old:
        yield f"export {_LOADER}={_without(_LOADER, old)}"
    if libraries:  # by itself: nothing may be left of what was there, and an empty element would be the current directory
        yield f'export {_LOADER}={quote(libraries)}"${{{_LOADER}:+:${_LOADER}}}"'


def _without(variable: str, old: tuple[str, ...]) -> str:
    if not old:
        return f'"${variable}"'
    patterns = " ".join(f"-e {quote(one)}" for one in old)
    return f'"$(printf %s "${variable}" | tr : \'\\n\' | grep -vxF {patterns} | paste -sd: -)"'


def _fish(installed: InstalledToolkits, libraries: str, terminal: Fact[Terminal]) -> Iterator[str]:
    root = installed.chosen.root
    for name, value in ({"CUDA_HOME": root} | dict(_homes(installed, terminal))).items():
        yield f"set -gx {name} {_word(value)}"
    for name, first in (("PATH", f"{root}/bin"), (_LOADER, libraries)):
        old = _old(installed, terminal, name)
        kept = f"(string match -v -- {' '.join(_word(one) for one in old[:1])} ${name})" if len(old) == 1 else f"${name}"
        if len(old) > 1:
            yield from (f"while set -l at (contains -i -- {_word(one)} ${name}); set -e {name}[$at]; end" for one in old)
        if first or old:
            yield f"set -gx {name} {_word(first) + ' ' if first else ''}{kept}"


def _word(value: str) -> str:
    return quoted_for(value, Dialect.FISH).decode("utf-8", "replace")


def _homes(installed: InstalledToolkits, terminal: Fact[Terminal]) -> Iterator[tuple[str, str]]:
    """What else is set to another toolkit in a terminal now, with what it should hold."""
    for one in terminal.value.variables if isinstance(terminal, Known) else ():
        root = installed.root_of(one.value) if one.name in HOMES else ""
        if root and installed.lead(one.value) is Lead.OTHER:
            yield one.name, installed.chosen.root + one.value[len(root) :]


def _old(installed: InstalledToolkits, terminal: Fact[Terminal], variable: str) -> tuple[str, ...]:
    """The directories of other toolkits that it holds now."""
    if not isinstance(terminal, Known):
        return ()
    return tuple(dict.fromkeys(one for one in terminal.value.variable(variable).split(":") if installed.lead(one) is Lead.OTHER))
