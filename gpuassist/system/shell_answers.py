"""What a shell said when it was asked `shell_questions`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Answer:
    """What a shell said: its process, the whole environment of its programs, the paths of the commands, and what else has their
    names, as (kind, name, text); `exports` is what it tells itself where it can start no program.
    """

    shell: str
    pid: int
    environment: Mapping[str, str]
    paths: Mapping[str, str]
    named: tuple[tuple[str, str, str], ...]
    exports: str = ""


def read(said: bytes) -> Answer | None:
    """The first whole answer; none where it is cut short."""
    tokens = iter(said.decode("utf-8", "replace").split("\0"))
    paths: dict[str, str] = {}
    named: list[tuple[str, str, str]] = []
    environment: dict[str, str] = {}
    exports = ""
    try:
        while next(tokens) != "begin":
            pass
        shell, pid = next(tokens), next(tokens)
        while (token := next(tokens)) != "environment":
            name, words = next(tokens), next(tokens).strip("\n")
            if token == "path":
                paths[name] = words
            elif words:
                named.append((token, name, words))
        while (token := next(tokens)) != "end":
            if token == "exports":
                exports = next(tokens)
            else:
                variable, _, value = token.partition("=")
                environment[variable] = value
    except StopIteration:
        return None
    return Answer(shell, int(pid) if pid.isdigit() else 0, environment, paths, tuple(named), exports)
