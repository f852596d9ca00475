"""Commands are found behind the prompts that people have, and bare; what they printed ends at the next one."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuassist.detect.readers.commands import PastedCommand, runs
from gpuassist.model.paste import Paste
from tests.rows import for_each

PROMPTS = [
    "$ {}",
    "# {}",
    "% {}",
    "❯ {}",
    "me@host:~$ {}",
    "me@host:~/some/where$ {}",
    "(base) me@host:~$ {}",
    "(base) (venv) me@host:/opt$ {}",
    "root@3f2a1b:/workspace# {}",
    "[root@host ~]# {}",
    "[me@host dir]$ {}",
    "me@host ~ % {}",
    "~ $ {}",
    "~/src > {}".replace(">", "$"),
    "➜  ~ {}",
    "➜  src git:(main) ✗ {}",
    "!{}",
    "In [3]: !{}",
    "> $ {}",
    ">> me@host:~$ {}",
]
BARE = [
    "lsmod | grep nvidia",
    "echo $PATH",
    "which nvcc",
    "ls /usr/local",
    "uname -a",
    "lspci -nnk | grep -i nvidia",
    "sudo dkms status",
]


def every(words: str, literal: str = "lsmod") -> list[PastedCommand]:
    return list(runs(Paste(words), literal))


@for_each("prompt", PROMPTS)
def test_command_is_found_behind_a_prompt(prompt: str) -> None:
    (run,) = every(f"some words\n{prompt.format('lsmod | grep nvidia')}\nnvidia  1  2\n")

    assert (run.number, run.command) == (2, "lsmod | grep nvidia")
    assert run.output[0].words == "nvidia  1  2"


@pytest.mark.parametrize("command", BARE)
def test_bare_command_is_found(command: str) -> None:
    assert [run.command for run in runs(Paste(f"{command}\nits output\n"), command)] == [command]


@pytest.mark.parametrize(
    "words",
    ["which nvcc do I need?", "ls of my files", "I ran lsmod and saw nothing", "| GPU  Name  lsmod |", "lsmod shows nvidia"],
)
def test_sentence_is_no_command(words: str) -> None:
    assert list(runs(Paste(words), "lsmod", "which", "ls")) == []


def test_output_ends_at_the_next_prompt() -> None:
    (run,) = every("$ lsmod\na  1  0\nb  2  0\n$ uname -r\n6.8.0\n")

    assert [line.words for line in run.output] == ["a  1  0", "b  2  0"]
    assert run.ended


def test_silence_is_sure_where_another_prompt_follows() -> None:
    (run,) = every("$ lsmod | grep nvidia\n$ uname -r\n")

    assert run.silent


def test_waiting_prompt_ends_an_output_too() -> None:
    (run,) = every("me@host:~$ lsmod | grep nvidia\nme@host:~$\n")

    assert run.silent


def test_end_of_the_text_is_no_silence() -> None:
    (run,) = every("$ lsmod | grep nvidia\n")

    assert not run.silent


def test_printed_line_is_no_silence() -> None:
    (run,) = every("$ lsmod | grep nvidia\n(nothing)\n$ uname -r\n")

    assert not run.silent


@given(st.text(alphabet="$#%>@~[]() \nlsmodabc:/!", max_size=300))
def test_any_text_is_survived(words: str) -> None:
    assert isinstance(every(f"{words} lsmod"), list)


@pytest.mark.parametrize(
    "words", ["(a) " * 20_000 + "lsmod", "a@" * 30_000 + "lsmod", "[" * 50_000 + "lsmod", "~" * 50_000 + " lsmod"]
)
def test_hostile_line_is_left_alone(words: str) -> None:
    assert every(words) == []
