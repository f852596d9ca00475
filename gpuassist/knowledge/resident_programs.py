"""Programs that keep the environment that they were started with and hand it on: what they are known by, how each is restarted."""

from __future__ import annotations

from msgspec import Struct

from gpuassist.knowledge.rows import Row, Source, source_of, text_of, texts_of
from gpuassist.model.lazy_regex import lazy_regex
from gpuassist.model.old_environment import ProgramFamily, RunningProgram

# Whose first argument is the program: what lies in a server's directory is that server, what an editor has open there is not.
_INTERPRETER = lazy_regex(r"(ba|da|z|k)?sh|node|(python|pypy)[\d.]*t?|java|perl|ruby")


class ResidentProgram(Struct, frozen=True):
    """A process is this one where its comm is among `names` (`gvfs*` is a beginning), its program among `programs`, the script that
    an interpreter runs among `scripts`, or its file lies below one of `paths`. Where there are `words`, one of them is an argument
    of it as well, an option also with a value.

    `how` says how it is restarted, `inside` what to do where only what runs in it holds the old; empty for what its family says.
    `sets` and `unsets` are keys of command lines that change what it hands on, each for one variable.
    """

    key: str
    name: str
    family: ProgramFamily
    names: tuple[str, ...]
    programs: tuple[str, ...]
    scripts: tuple[str, ...]
    paths: tuple[str, ...]
    words: tuple[str, ...]
    how: str
    inside: str
    sets: tuple[str, ...]
    unsets: tuple[str, ...]
    source: str
    checked: str


def resident_program(row: Row, sources: dict[str, Source]) -> ResidentProgram:
    source = source_of(row, sources)
    return ResidentProgram(
        text_of(row, "key"),
        text_of(row, "name"),
        ProgramFamily(text_of(row, "family")),
        names=texts_of(row, "names"),
        programs=texts_of(row, "programs"),
        scripts=texts_of(row, "scripts"),
        paths=texts_of(row, "paths"),
        words=texts_of(row, "words"),
        how=text_of(row, "how", ""),
        inside=text_of(row, "inside", ""),
        sets=texts_of(row, "sets"),
        unsets=texts_of(row, "unsets"),
        source=source.text,
        checked=source.checked,
    )


def resident_of(records: tuple[ResidentProgram, ...], process: RunningProgram) -> ResidentProgram | None:
    """Which of them a process is; none where it is none."""
    words = process.words
    program = words[0].rpartition("/")[2].removeprefix("-").rstrip(":") if words else ""
    files = words[:2] if _INTERPRETER.fullmatch(program) else words[:1]

    def is_this(one: ResidentProgram) -> bool:
        named = any(process.name.startswith(name[:-1]) if name.endswith("*") else process.name == name for name in one.names)
        called = program in one.programs or process.script in one.scripts
        said = not one.words or any(word == told or word.startswith(f"{told}=") for word in words[1:] for told in one.words)
        return said and (named or called or any(path in file for path in one.paths for file in files))

    return next((one for one in records if is_this(one)), None)
