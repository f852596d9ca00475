"""An error that a job brought home says what a user can do something with."""

from __future__ import annotations

import errno

import pytest

from gpuassist.detect.recording import RecordingError
from gpuassist.model.text import text
from gpuassist.model.words import ENGLISH
from gpuassist.ui.wording import at_home, reason_of


def test_a_known_error_says_its_reason() -> None:
    assert (
        reason_of(ENGLISH, RecordingError(text("{path} is not a JSON document", path="a.json"))) == "a.json is not a JSON document"
    )


def test_the_system_says_what_and_where() -> None:
    error = OSError(errno.EACCES, "Permission denied", "/root/machine.json")
    assert reason_of(ENGLISH, error) == "Permission denied: /root/machine.json"


def test_the_system_says_what_without_where() -> None:
    assert reason_of(ENGLISH, OSError(errno.ENOSPC, "No space left on device")) == "No space left on device"


@pytest.mark.parametrize(
    ("error", "words"), [(ValueError("odd value"), "odd value"), (RuntimeError(), "RuntimeError"), (OSError(), "OSError")]
)
def test_any_other_error_says_something(error: Exception, words: str) -> None:
    assert reason_of(ENGLISH, error) == words


def test_a_reason_that_is_no_text_is_not_taken_for_one() -> None:
    error = UnicodeDecodeError("utf-8", b"\xff", 0, 1, "invalid start byte")
    assert "invalid start byte" in reason_of(ENGLISH, error)


def test_paths_stand_from_the_tilde_on_wherever_they_come_from() -> None:
    words = at_home(ENGLISH, "/home/u")
    assert words(text("{path} was removed", path="/home/u/.bashrc")) == "~/.bashrc was removed"
    assert words(text("{a}, {b}", a=text("{path}", path="/home/u/x"), b="/home/user/y")) == "~/x, /home/user/y"
    assert reason_of(words, OSError(errno.EACCES, "Permission denied", "/home/u/.bashrc")) == "Permission denied: ~/.bashrc"
