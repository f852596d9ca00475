"""What a value says without running it agrees with what a real bash makes of it."""

from __future__ import annotations

import subprocess

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpuassist.shellfiles.bash import read
from gpuassist.shellfiles.statements import Statement, printable

HOME = "/home/you"
PARTS = st.sampled_from(
    [
        "/a",
        "/b\\ c",
        "'/d e'",
        '"/f g"',
        "$HOME",
        "${HOME}",
        '"$HOME"',
        '"${HOME}/x"',
        "~/y",
        "x\\ ",
        '"\\$HOME"',
        "'$HOME'",
        '"\\\\"',
        "/cuda-12.4/bin",
        "$ROOT/lib64",
        '"${ROOT}"/bin',
        "ü",
        ".",
        "#",
        "=",
        '"a\\nb"',
        "${HOME:-/z}",
        "${NOTHING:-/z}",
    ]
)
VALUES = st.lists(PARTS, min_size=1, max_size=5).map(":".join)
GLUED = st.lists(st.lists(PARTS, min_size=1, max_size=3).map("".join), min_size=1, max_size=3)


def _by_bash(value: str) -> str:
    script = f"ROOT=/usr/local/cuda-11.7\nVALUE={value}\nprintf '%s' \"$VALUE\"\n"
    clean = {"HOME": HOME, "LC_ALL": "C.UTF-8"}
    done = subprocess.run(["bash", "--norc"], input=script.encode(), capture_output=True, timeout=100, env=clean)
    assert done.returncode == 0, done.stderr
    return done.stdout.decode()


def _statement(value: str) -> Statement:
    script = f"ROOT=/usr/local/cuda-11.7\nexport CUDA_HOME={value}\n"
    (statement,) = read(script.encode(), {"HOME": HOME}).statements
    return statement


def _by_reading(value: str) -> list[str]:
    return [element.directory for element in _statement(value).assignments[0].elements]


@settings(max_examples=60, deadline=None)
@given(VALUES)
def test_elements_are_those_of_bash(value: str) -> None:
    assert _by_reading(value) == [part for part in _by_bash(value).split(":") if part]


@settings(max_examples=60, deadline=None)
@given(GLUED)
def test_glued_words_are_those_of_bash_or_left_alone(elements: list[str]) -> None:
    value = ":".join(elements)
    if _statement(value).shared:
        return  # the parser took the value for several words: such a line is never retired
    real = [part for part in _by_bash(value).split(":") if part]
    assert all(mine in ("", theirs) for mine, theirs in zip(_by_reading(value), real, strict=True))


@pytest.mark.parametrize(("words", "shown"), [("plain", "plain"), ("caf\udce9", "caf\\xe9"), ("显卡", "显卡"), ("", "")])
def test_every_word_can_be_printed(words: str, shown: str) -> None:
    assert printable(words) == shown
    assert printable(words).encode().decode() == shown


def test_a_value_that_the_parser_cuts_is_unknown() -> None:
    assert _by_reading("\\ /a") == [""]
