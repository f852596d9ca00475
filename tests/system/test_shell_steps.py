"""The steps that a shell says, followed by themselves: what counts as a change, whose line it was, and what cuts them short."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuassist.system.shell_trace import Steps, bash_steps, zsh_steps

MARK, NAMES = "MARK7", ("PATH", "CUDA_HOME")
RC = "/home/you/.bashrc"


def said(
    path: str, home: str | None = None, *, line: int = 1, command: str = "x", level: int = 2, frames: str = "1 ", file: str = RC
) -> bytes:
    """A step as bash says it, with what both variables hold before it."""
    values = f"={path}\2" + (f"={home}" if home is not None else "")
    return f"{chr(1) * level}{MARK}\2{0}\2{frames}\2{file}\2{line}\2{values}\3{command}".encode("utf-8", "surrogateescape")


def followed(*lines: bytes, at_most: int = 100) -> Steps:
    steps = Steps(MARK, NAMES, at_most)
    for line in lines:
        for part in line.split(b"\n"):
            steps.take(part)
    return steps


def changes(*lines: bytes) -> list[tuple[str, int, str | None, str | None]]:
    return [(one.variable, one.line, one.before, one.after) for one in followed(*lines).changes]


def test_change_belongs_to_the_step_before_it() -> None:
    assert changes(said("/a", line=3), said("/b", line=9)) == [("PATH", 3, "/a", "/b")]


def test_first_values_are_what_the_shell_was_given() -> None:
    steps = followed(said("/a", "/c"))
    assert steps.changes == ()
    assert steps.values == {"PATH": "/a", "CUDA_HOME": "/c"}


@pytest.mark.parametrize(
    ("before", "after"), [(None, "/c"), ("/c", None), (None, ""), ("", None), ("", "/c"), ("/c", "/d"), ("/c", "/c ")]
)
def test_unset_empty_and_set_are_three_things(before: str | None, after: str | None) -> None:
    assert changes(said("/a", before, line=3), said("/a", after)) == [("CUDA_HOME", 3, before, after)]


def test_two_variables_of_one_line_are_two_changes() -> None:
    assert changes(said("/a", line=4), said("/b", "/c")) == [("PATH", 4, "/a", "/b"), ("CUDA_HOME", 4, None, "/c")]


def test_changes_stand_in_the_order_of_their_steps() -> None:
    lines = (said("/a", line=1), said("/a", "/c", line=2), said("/b", "/c", line=3), said("/b", "/d", line=4))
    assert [line for _, line, _, _ in changes(*lines)] == [1, 2, 3]


def test_what_is_taken_back_was_for_that_alone() -> None:
    assert changes(said("/a", line=1), said("/b", line=2), said("/a", line=3)) == []


def test_value_in_front_of_a_command_is_not_held() -> None:
    lines = (said("/a", line=1), said("/a", "/c", line=2, command="CUDA_HOME=/c"), said("/a", line=3))
    assert changes(*lines) == []


def test_last_step_of_each_line_is_known() -> None:
    steps = followed(said("/a", line=1), said("/a", line=2), said("/a", line=1))
    assert dict(steps.taken) == {(RC, 1): 2, (RC, 2): 1}


def test_eval_is_told_by_its_own_line() -> None:
    lines = (said("/a", line=5), said("/a", line=70, level=3), said("/b", line=71, level=3))
    assert changes(*lines) == [("PATH", 5, "/a", "/b")]


def test_file_that_is_read_in_has_lines_of_its_own() -> None:
    other = said("/a", line=2, level=3, frames="2 source source", file="/opt/cuda.sh")
    steps = followed(said("/a", line=5), other, said("/b", line=6))
    assert [(one.file, one.line) for one in steps.changes] == [("/opt/cuda.sh", 2)]


@pytest.mark.parametrize(
    "command", ["set +x", "set +ex", "set +o xtrace", "unsetopt xtrace", "setopt no_xtrace", "setopt noxtrace"]
)
def test_shell_that_stops_telling_is_not_followed_whole(command: str) -> None:
    assert not followed(said("/a", command=command)).whole


@pytest.mark.parametrize("command", ["set +e", "set -x", "set +o vi", "unsetopt beep", "setopt no_beep", "echo set +x"])
def test_other_settings_leave_it_whole(command: str) -> None:
    assert followed(said("/a", command=command)).whole


def test_end_is_the_last_step() -> None:
    assert followed(said("/a", command=": gpuassist end 'x'")).ended
    assert not followed(said("/a", command=": gpuassist end"), said("/a")).ended
    assert not followed(said("/a", command="echo : gpuassist end")).ended


@pytest.mark.parametrize(("count", "too_many"), [(2, False), (3, True), (4, True)])
def test_steps_are_counted_to_a_limit(count: int, too_many: bool) -> None:
    assert followed(*(said("/a") for _ in range(count)), at_most=3).too_many is too_many


def test_value_with_line_ends_is_one_value() -> None:
    assert changes(said("/a\n/b", line=2), said("/c")) == [("PATH", 2, "/a\n/b", "/c")]


def test_bytes_that_are_no_text_come_back() -> None:
    (change,) = followed(said("/a"), said("/caf\udce9")).changes
    assert change.after == "/caf\udce9"


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"welcome",
        b"+ echo x",
        b"\x01OTHER\x020\x021 \x02/a\x021\x02=/a\x02\x03x",
        b"\x01MARK7\x021\x021 \x02/a\x021\x02=/sub\x02\x03x",
        b"\x01MARK7\x020\x021 \x02/a\x02one\x02=/a\x02\x03x",
        b"MARK7\x03",
    ],
)
def test_what_is_no_step_of_ours_is_passed_over(line: bytes) -> None:
    steps = followed(line, said("/a"))
    assert (steps.count, steps.changes) == (1, ())


def test_step_that_never_ends_is_given_up() -> None:
    steps = followed(b"\1MARK7\2" + b"x" * (1 << 20), said("/a"))
    assert steps.count == 1


@given(st.lists(st.binary(max_size=60), max_size=6))
def test_any_output_is_survived(lines: list[bytes]) -> None:
    steps = followed(*lines, said("/a"), said("/b"))
    assert [one.after for one in steps.changes][-1:] in ([], ["/b"])


@given(st.lists(st.sampled_from(["/a", "/b", "/c"]), min_size=1, max_size=8))
def test_changes_lead_from_the_first_value_to_the_last(values: list[str]) -> None:
    found = followed(*(said(value, line=number) for number, value in enumerate(values, 1))).changes
    assert [values[0], *(one.after for one in found)][-1] == values[-1]
    assert all(one.before != one.after for one in found)


@pytest.mark.parametrize("prompt", [bash_steps, zsh_steps])
def test_prompt_asks_for_every_variable(prompt: Callable[[str, Sequence[str]], str]) -> None:
    words = prompt(MARK, NAMES)
    assert words.startswith(f"\1{MARK}\2")
    assert all(f"${{{name}+=}}" in words for name in NAMES)
    assert words.endswith("\3")
