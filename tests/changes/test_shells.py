"""Shells started in every way, and what a change made of each."""

from __future__ import annotations

import os
from pathlib import Path

from gpuassist.changes.shells import SLOW_SECONDS, ShellSeen, ask_shells, compare, slow
from gpuassist.model.fact import Fact, Known, Unknown
from gpuassist.model.shell import Command, Terminal, Variable
from gpuassist.model.text import text
from gpuassist.model.words import ENGLISH
from gpuassist.system.surroundings import Surroundings
from gpuassist.system.terminal import Opening
from gpuassist.system.world import World
from tests.rows import for_each


def terminal(nvcc: str = "", **variables: str) -> Fact[Terminal]:
    commands = (Command("nvcc", nvcc, nvcc),) if nvcc else ()
    return Known(Terminal("/bin/bash", tuple(Variable(*one) for one in variables.items()), commands), "bash -i")


def seen(fact: Fact[Terminal], seconds: float = 0.1) -> ShellSeen:
    return ShellSeen(Opening.TERMINAL, fact, seconds)


def differences(before: Fact[Terminal], after: Fact[Terminal]) -> list[str]:
    (change,) = compare((seen(before),), (seen(after),))
    return [ENGLISH(one) for one in change.differences]


OLD, NEW = "/usr/local/cuda-11.7/bin", "/usr/local/cuda-12.4/bin"


@for_each(
    ("before", "after", "told"),
    [
        (terminal(PATH="/a"), terminal(PATH="/a"), []),
        (terminal(), terminal(f"{NEW}/nvcc"), [f"nvcc: none before, now {NEW}/nvcc"]),
        (terminal(f"{OLD}/nvcc"), terminal(f"{NEW}/nvcc"), [f"nvcc: {OLD}/nvcc before, now {NEW}/nvcc"]),
        (terminal(f"{OLD}/nvcc"), terminal(), [f"nvcc: {OLD}/nvcc before, now none"]),
        (terminal(PATH="/a"), terminal(PATH=f"{NEW}:/a"), [f"PATH: {NEW} is new, at place 1"]),
        (
            terminal(PATH=f"/a:{OLD}:{NEW}"),
            terminal(PATH=f"{NEW}:/a:{OLD}"),
            [f"PATH: {NEW} moved from place 3 to the first"],
        ),
        (terminal(PATH=f"{OLD}:/a"), terminal(PATH="/a"), [f"PATH: {OLD} is gone"]),
        (terminal(LD_LIBRARY_PATH="/x:"), terminal(LD_LIBRARY_PATH="/x"), ["LD_LIBRARY_PATH: '' is gone"]),
        (terminal(PATH="/a:/b:/a"), terminal(PATH="/a:/b"), ["PATH: /a is named less often"]),
        (terminal(), terminal(CUDA_HOME="/c"), ["CUDA_HOME: not set before, now /c"]),
        (terminal(CUDA_HOME="/c"), terminal(), ["CUDA_HOME: /c before, now not set"]),
        (terminal(CUDA_HOME="/c"), terminal(CUDA_HOME="/d"), ["CUDA_HOME: /c before, now /d"]),
        (terminal(PATH="/a:/bin\r"), terminal(PATH="/a:/bin"), ["PATH: /bin is new, at place 2", r"PATH: /bin\r is gone"]),
        (terminal(), terminal(LD_LIBRARY_PATH="/x"), ["LD_LIBRARY_PATH: not set before, now /x"]),
    ],
)
def test_differences_are_told(before: Fact[Terminal], after: Fact[Terminal], told: list[str]) -> None:
    assert differences(before, after) == told


def test_another_nvcc_that_is_still_found_is_told() -> None:
    stray = terminal("/usr/bin/nvcc")
    ((told,),) = (one.differences for one in compare((seen(stray),), (seen(stray),), f"{NEW}/nvcc"))
    assert ENGLISH(told) == "nvcc: /usr/bin/nvcc, as before"
    assert [one.differences for one in compare((seen(stray),), (seen(stray),), "/usr/bin/nvcc")] == [()]


def test_shell_that_was_silent_before_has_nothing_to_compare() -> None:
    assert differences(Unknown(text("too late")), terminal(PATH="/a")) == []


def test_shell_that_is_silent_after_says_why() -> None:
    assert differences(terminal(), Unknown(text("too late"))) == ["could not be asked: too late"]


def test_slowest_is_told_only_where_it_is_slow() -> None:
    quick, late = seen(terminal(), SLOW_SECONDS / 2), seen(terminal(), SLOW_SECONDS * 2)
    assert slow((quick,)) is None
    assert slow((quick, late)) is late
    assert slow(()) is None


def test_every_way_is_asked_of_a_real_shell(home: Path) -> None:
    (home / ".bashrc").write_text("case $- in *i*) ;; *) return;; esac\nexport CUDA_HOME=/rc\n")
    (home / ".profile").write_text(". ~/.bashrc\n")
    world = World(Surroundings(str(home), "you", os.geteuid(), {}, str(home), "/bin/bash"))
    held = {one.opening: one.terminal.value.variable("CUDA_HOME") for one in ask_shells(world) if isinstance(one.terminal, Known)}
    held_by = {Opening.TERMINAL, Opening.TERMINAL_COMMAND, Opening.BARE_TERMINAL, Opening.LOGIN}
    others = set(Opening) - held_by
    assert held == {**dict.fromkeys(held_by, "/rc"), **dict.fromkeys(others, "")}
