"""A wish as words and back, and in a line for people."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuassist.install.what_if import NONE, Wish
from gpuassist.model.text import text
from gpuassist.model.words import ENGLISH
from gpuassist.session.wish_words import not_found, part_in_words, wish_in_words, wish_of, wish_title

MACHINE = text("This machine")
VALUES = st.text("abcXYZ019.+- :", max_size=20).map(str.strip)
WISHES = st.builds(
    Wish, st.lists(VALUES.filter(bool), max_size=4).map(tuple), VALUES, VALUES, VALUES, VALUES, VALUES, distribution=VALUES
)


def titled(wish: Wish, *names: str) -> str:
    return ENGLISH(wish_title(wish, names, MACHINE))


@given(WISHES)
def test_a_wish_comes_back_from_its_words(wish: Wish) -> None:
    assert wish_of(wish_in_words(wish)) == wish


def test_no_wish_is_no_words() -> None:
    assert (wish_in_words(Wish()), wish_of("")) == ("", Wish())


def test_a_wish_is_read_as_somebody_types_it() -> None:
    assert wish_of("gpu = RTX 5090;driver=570 ; gpu=10de:2684;") == Wish(("RTX 5090", "10de:2684"), driver="570")


@given(st.text(max_size=80))
def test_any_words_are_some_wish(words: str) -> None:
    assert isinstance(wish_of(words), Wish)


@pytest.mark.parametrize("words", ["gpus=RTX 5090", "colour=red", "driver", "driver=", "=570", ";;;"])
def test_what_is_no_part_of_a_wish_is_passed_over(words: str) -> None:
    assert wish_of(words) == Wish()


@pytest.mark.parametrize(
    ("part", "value", "said"),
    [
        ("driver", "570", "driver 570"),
        ("torch", "2.7.1+cu128", "torch 2.7.1+cu128"),
        ("python", "3.12", "Python 3.12"),
        ("toolkit", "12.8", "CUDA 12.8"),
        ("gcc", "13", "gcc 13"),
        ("driver", NONE, "no driver"),
        ("gcc", NONE, "no host compiler"),
        ("distribution", "rhel 9", "RHEL 9"),
        ("distribution", "haiku", "haiku"),
    ],
)
def test_a_part_is_said_in_its_own_words(part: str, value: str, said: str) -> None:
    assert ENGLISH(part_in_words(part, value)) == said


def test_a_name_that_is_nearly_one_is_told_what_it_may_be() -> None:
    said = ENGLISH(not_found("RTX 4909", ("RTX 4090", "GTX 680", "L40S")))
    assert said == "No GPU that gpuassist knows has RTX 4909 in its name. Near it: RTX 4090."


def test_a_name_that_is_like_none_is_told_so() -> None:
    assert ENGLISH(not_found("voodoo", ("RTX 4090",))) == "No GPU that gpuassist knows has voodoo in its name."


def test_a_machine_without_a_wish_is_as_it_is() -> None:
    assert titled(Wish()) == "This machine as it is"


def test_the_title_names_gpus_first() -> None:
    wish = Wish(("10de:2684", "x"), torch="2.7.1", driver="570", distribution="debian 13")
    assert titled(wish, "RTX 4090", "RTX 5090") == "This machine with RTX 4090 · RTX 5090 · driver 570 · torch 2.7.1 · Debian 13"


def test_the_title_says_that_no_gpu_is_there() -> None:
    assert titled(Wish((NONE,))) == "This machine with no GPU"
