"""Which of two lines that put one directory on a list is idle."""

from __future__ import annotations

import pytest

from gpuassist.shellfiles.bash import read
from gpuassist.shellfiles.clean import repeated


def _idle(content: str) -> dict[int, int]:
    """By the line that is idle: the line that makes it so."""
    statements = read(content.encode(), {"HOME": "/home/you"}).statements
    lines = {one.first_byte: one.line for one in statements}
    return {lines[first]: by for (first, _, _), by in repeated(statements).items()}


FRONT, BACK = "export PATH=/a:$PATH\n", "export PATH=$PATH:/a\n"


@pytest.mark.parametrize(
    ("content", "idle"),
    [
        (FRONT, {}),
        (FRONT + FRONT, {1: 2}),
        (BACK + BACK, {2: 1}),
        (FRONT + BACK, {2: 1}),
        (BACK + FRONT, {1: 2}),
        (FRONT + "export PATH=/a/:$PATH\n", {1: 2}),
        (FRONT + "export PATH=/b:/a:$PATH\n", {1: 2}),
        (FRONT + FRONT.replace("PATH", "LD_LIBRARY_PATH"), {}),
        ("PATH=$HOME/bin:$PATH\nPATH=/home/you/bin:$PATH\n", {1: 2}),
        ("PATH=~/bin:$PATH\nexport PATH=$PATH:$HOME/bin\n", {2: 1}),
    ],
)
def test_what_is_found_elsewhere_first_is_idle(content: str, idle: dict[int, int]) -> None:
    assert _idle(content) == idle


@pytest.mark.parametrize(
    "content",
    [
        FRONT + "if x; then\n" + FRONT + "fi\n",
        "f() {\n" + FRONT + "}\n" + FRONT,
        "[ -d /a ] && " + FRONT + FRONT,
        FRONT + "export PATH=/usr/bin:/bin\n" + FRONT,
        "export PATH=$X:$PATH\nexport PATH=$X:$PATH\n",
        "export PATH=/a:/a\n",
        "export CUDA_HOME=/a\nexport CUDA_HOME=/a\n",
        "echo; " + FRONT + FRONT,
    ],
)
def test_what_may_be_needed_is_not_idle(content: str) -> None:
    assert _idle(content) == {}


def test_a_list_that_is_set_anew_starts_again() -> None:
    assert _idle(BACK + "PATH=/usr/bin\n" + BACK + BACK) == {4: 3}


def test_of_three_two_are_idle() -> None:
    assert _idle(FRONT * 3) == {1: 2, 2: 3}
    assert _idle(BACK * 3) == {2: 1, 3: 1}
