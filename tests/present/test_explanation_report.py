"""An answer handed on: what is copied into a message, and what a colleague gets as a file."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from gpuassist.model.memory_picture import MemoryPart, MemoryPicture, PartKind
from gpuassist.model.paste import Paste
from gpuassist.model.words import ENGLISH
from gpuassist.present.explanation_report import in_markdown, in_plain_words
from gpuassist.present.redaction import Person
from tests.session.explained import ANSWER, CONTRADICTION, DOUBT, OPEN, READ, explained, remedy

FULL = replace(explained(ANSWER, doubts=(DOUBT,), machine=READ, contradictions=(CONTRADICTION,)), undetermined=(OPEN,))


def plain() -> str:
    return in_plain_words(FULL, ENGLISH)


def test_the_verdict_comes_first() -> None:
    assert plain().splitlines()[0] == "1 problem found"


@pytest.mark.parametrize(
    "said",
    [
        "Missing details were read from this computer.",
        "## CUDA 11.7 cannot build for RTX 4090",
        "It was published before this GPU.",
        "- the text says: Unsupported gpu architecture 'compute_89' (pasted text, line 2)",
        "- nvcc in a new terminal: 11.7.99 (/usr/local/cuda-11.7/bin/nvcc)",
        "1. Do it.",
        "       gpuassist use cuda 12.4",
        "<https://docs.nvidia.com/cuda/>",
        "Less likely:\n- CUDA 13 dropped this GPU: the message fits it as well",
        "contradicts itself; the first was used:\n- driver: 550.54.14 / 535.104.05 (lines 1, 7)",
        "Could not be determined:\n- driver: not looked at",
    ],
)
def test_everything_that_is_shown_is_copied(said: str) -> None:
    assert said in plain()


def test_the_text_itself_is_not_copied() -> None:
    assert "make: ***" not in plain()


def test_a_check_follows_its_commands() -> None:
    answer = replace(ANSWER, remedies=(remedy("nvcc --version", check="It says 12.4."),))
    assert "To see that it worked: It says 12.4." in in_plain_words(explained(answer), ENGLISH)


def test_a_text_that_nobody_knows_is_told_as_such() -> None:
    assert in_plain_words(explained(), ENGLISH).startswith("I don't know this text\n")


def test_the_picture_of_the_memory_is_copied_as_figures() -> None:
    picture = MemoryPicture(24 << 30, (MemoryPart(PartKind.ALLOCATED, 20 << 30), MemoryPart(PartKind.FREE, 4 << 30)))
    copied = in_plain_words(replace(explained(ANSWER), memory=picture), ENGLISH)
    assert 0 < copied.find("20.00 GiB\n- ") < copied.index("1. Do it.")


def test_what_was_left_out_is_told() -> None:
    long = replace(explained(ANSWER), paste=Paste("words", 9 << 20))
    assert "9 MiB between them were left out" in in_plain_words(long, ENGLISH)


def test_a_file_holds_answer_facts_and_text() -> None:
    document = in_markdown(FULL, ENGLISH)
    assert document.startswith("# 1 problem found\n")
    assert "Driver\n\n- version: 550.54.14" in document
    assert "```text\nmake: all\nnvcc fatal" in document
    assert document.endswith("```\n")


def test_a_fence_in_the_text_does_not_end_its_block() -> None:
    document = in_markdown(explained(ANSWER, words="````\nquoted\n````"), ENGLISH)
    assert "`````text\n````\nquoted\n````\n`````" in document


def test_of_a_long_text_a_file_holds_both_ends() -> None:
    document = in_markdown(explained(ANSWER, words="a" * 200_000 + "z" * 200_000), ENGLISH)
    assert len(document) < 120_000
    assert "aaa\n```\n\n⋯\n\n```text\nzzz" in document


def test_a_file_names_neither_user_nor_computer() -> None:
    told = replace(FULL, paste=Paste("berta@node7:~$ ls /home/berta\n/home/anna/x\n"))
    file = in_markdown(told, ENGLISH, Person("anna", "", "/home/anna"))
    assert "berta" not in file
    assert "anna" not in file
    assert "USER@HOST:~$ ls /home/USER" in file


def test_what_is_copied_names_nobody() -> None:
    answer = replace(ANSWER, explanation="It lies in /home/wendelin/venv, on the computer helmholtz.")
    copied = in_plain_words(explained(answer), ENGLISH, Person("wendelin", "helmholtz", "/home/wendelin"))
    assert "It lies in /home/USER/venv, on the computer HOST." in copied
