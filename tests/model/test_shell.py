"""A terminal says what it holds, and what it is known to lack."""

from __future__ import annotations

from gpuassist.model.shell import Command, Terminal, Variable

WHOLE = Terminal("/bin/bash", (Variable("CUDA_HOME", ""),), (Command("nvcc", "/usr/bin/nvcc", "/usr/bin/nvcc"),))
TOLD = Terminal("", (), (Command("nvcc", "", ""),))


def test_variable_that_is_empty_is_set() -> None:
    assert WHOLE.is_set("CUDA_HOME")
    assert not WHOLE.is_set("PATH")


def test_program_that_is_found_is_not_lacking() -> None:
    assert not WHOLE.lacks("nvcc")


def test_whole_terminal_lacks_what_it_does_not_list() -> None:
    assert WHOLE.lacks("gcc")


def test_part_of_a_terminal_lacks_what_is_said_to_be_missing() -> None:
    assert TOLD.lacks("nvcc")
    assert TOLD.command("nvcc") is None


def test_part_of_a_terminal_leaves_the_rest_open() -> None:
    assert not TOLD.whole
    assert not TOLD.lacks("gcc")
