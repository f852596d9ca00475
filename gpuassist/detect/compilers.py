"""The host compilers that nvcc can call: those that a new terminal finds, and the numbered ones beside them."""

from __future__ import annotations

from gpuassist.detect.runner import each
from gpuassist.model.fact import Fact, Known, Unknown
from gpuassist.model.lazy_regex import lazy_regex
from gpuassist.model.shell import Terminal
from gpuassist.model.text import text
from gpuassist.model.toolkit import Compiler
from gpuassist.model.version import Version, VersionError
from gpuassist.system.own_child import clean
from gpuassist.system.ownership import why_not_run
from gpuassist.system.world import World

FAMILIES = ("gcc", "g++", "clang")
_SECONDS = 5.0
_NUMBERED = lazy_regex(r"(gcc|g\+\+|clang)-(\d{1,9}(?:\.\d{1,9})*)")
_DIRECTORIES = ("/usr/bin", "/usr/local/bin")


def probe(world: World, terminal: Fact[Terminal]) -> Fact[tuple[Compiler, ...]]:
    """Those on the new terminal's PATH first, asked for their full version; a numbered one tells its own by its name."""
    found = terminal.value.commands if isinstance(terminal, Known) else ()
    on_path = [(command.name, command.path) for command in found if command.name in FAMILIES]
    asked = each(
        on_path,
        lambda one: _asked(world, *one),
        seconds=_SECONDS + 1,
        otherwise=lambda one, unknown: Compiler(one[0], one[1], unknown),
    )
    seen = {world.files.real(compiler.path) for compiler in asked}
    numbered = (
        Compiler(match[1], place, Known(Version.parse(match[2]), "the file's name"))
        for directory in _DIRECTORIES
        for name in world.files.names(directory)
        if (match := _NUMBERED.fullmatch(name))
        and world.files.is_file(place := f"{directory}/{name}")
        and world.files.real(place) not in seen
    )
    return Known((*asked, *numbered), "PATH, /usr/bin")


def _asked(world: World, family: str, path: str) -> Compiler:
    refused = why_not_run(world, (path,))
    if refused is not None:
        return Compiler(family, path, Unknown(refused))
    # gcc 7 and later print only the major for -dumpversion; with both options every gcc and clang prints all it has.
    command = (path, "-dumpversion") if family == "clang" else (path, "-dumpfullversion", "-dumpversion")
    outcome = world.processes.run(command, seconds=_SECONDS, environment=clean({"PATH": "/usr/bin:/bin", "LC_ALL": "C"}))
    words = outcome.text.strip()
    try:
        return Compiler(family, path, Known(Version.parse(words), " ".join(command)))
    except VersionError:
        told = words[:200] or outcome.words or outcome.stderr.decode("utf-8", "replace").strip()[:200]
        return Compiler(family, path, Unknown(text("{path} did not tell its version: {words}", path=path, words=told)))
