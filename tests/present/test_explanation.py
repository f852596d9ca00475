"""How sure an answer is, the lines that it quotes, and where its commands are typed."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from gpuassist.app import compose
from gpuassist.diagnose.ranking import Rank
from gpuassist.model.finding import Remedy
from gpuassist.model.paste import Paste
from gpuassist.model.words import ENGLISH
from gpuassist.present.commands import where_to_type
from gpuassist.present.explanation import (
    SURENESS_WORDS,
    Sureness,
    accounts_shown,
    left_out,
    line_of,
    lines_quoted,
    quotes,
    sureness,
)
from gpuassist.session.explain import explain
from tests.session.explained import ANSWER, SWITCH, explained, fact, quoted, remedy


@pytest.mark.parametrize(
    ("rank", "expected"),
    [
        (Rank.SAID_AND_PROVED, Sureness.SURE),
        (Rank.SAID, Sureness.SURE),
        (Rank.BESIDE, Sureness.SURE),
        (Rank.PROVED, Sureness.LIKELY),
        (None, None),
        (Rank.POSSIBLE, Sureness.POSSIBLE),
        (Rank.FOLLOWS, Sureness.POSSIBLE),
    ],
)
def test_it_is_as_sure_as_it_is_founded(rank: Rank | None, expected: Sureness | None) -> None:
    assert sureness(explained(ANSWER, rank=rank)) is expected


def test_every_sureness_has_its_word() -> None:
    assert sorted(map(ENGLISH, SURENESS_WORDS.values())) == ["certain", "likely", "possible"]
    assert set(SURENESS_WORDS) == set(Sureness)


@pytest.mark.parametrize(
    ("source", "line"),
    [
        ("pasted text, line 2", 2),
        ("pasted collect_env, line 118", 118),
        ("/etc/os-release", 0),
        ("~/.bashrc line 118", 0),
        ("pasted text", 0),
        ("", 0),
    ],
)
def test_a_line_of_the_text_is_known_by_its_source(source: str, line: int) -> None:
    assert line_of(fact("x", source)) == line


def test_lines_are_told_once_and_in_order() -> None:
    answer = replace(ANSWER, evidence=(quoted("a", 3), quoted("b", 1), quoted("c", 3), fact("d")))
    assert lines_quoted((answer,)) == (3, 1)


def test_a_quotation_is_the_whole_line() -> None:
    explanation = explained(ANSWER)
    (quotation,) = quotes(explanation, ANSWER)
    assert (quotation.line, quotation.count) == (2, 1)
    assert quotation.words == "nvcc fatal   : Unsupported gpu architecture 'compute_89'"


def test_passages_of_one_line_are_one_quotation() -> None:
    answer = replace(ANSWER, evidence=(quoted("compute_89", 2), quoted("nvcc fatal", 2), quoted("make", 1)))
    assert [one.line for one in quotes(explained(answer), answer)] == [1, 2]


def test_a_passage_of_several_lines_is_quoted_whole() -> None:
    answer = replace(ANSWER, evidence=(quoted("make: all\nnvcc fatal", 1),))
    (quotation,) = quotes(explained(answer), answer)
    assert quotation.count == 2
    assert quotation.words.startswith("make: all\nnvcc fatal")


def test_a_long_line_is_quoted_by_its_beginning() -> None:
    answer = replace(ANSWER, evidence=(quoted("x", 1),))
    (quotation,) = quotes(explained(answer, words="x" * 10_000), answer)
    assert len(quotation.words) < 300
    assert quotation.words.endswith(" …")


def test_a_long_line_is_cut_between_words() -> None:
    answer = replace(ANSWER, evidence=(quoted("x", 1),))
    (quotation,) = quotes(explained(answer, words="memory " * 100), answer)
    assert quotation.words.endswith(" memory …")


def test_a_line_that_is_not_there_is_quoted_empty() -> None:
    answer = replace(ANSWER, evidence=(quoted("x", 99),))
    assert [one.words for one in quotes(explained(answer), answer)] == [""]


def test_an_answer_of_facts_quotes_nothing() -> None:
    assert quotes(explained(ANSWER), replace(ANSWER, evidence=(fact("11.7"),))) == ()


@pytest.mark.parametrize(("count", "said"), [(5 << 20, "5 MiB"), (17, "1 MiB")])
def test_what_was_left_out_is_counted(count: int, said: str) -> None:
    sentence = left_out(replace(explained(ANSWER), paste=Paste("words", count)))
    assert sentence is not None
    assert said in ENGLISH(sentence)


@pytest.mark.parametrize("paste", [Paste("words"), Paste("", 4096)])
def test_nothing_was_left_out_of_a_short_text_or_of_none(paste: Paste) -> None:
    assert left_out(replace(explained(), paste=paste)) is None


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (remedy("sudo apt install x", root=True), "Needs administrator rights"),
        (SWITCH, "gpuassist does this itself"),
        (remedy("wsl.exe --update", "wsl.exe --shutdown"), "PowerShell"),
        (remedy("export A=1"), "the terminal that starts your program"),
        (remedy("export A=1", "unset B"), "the terminal that starts your program"),
        (remedy("export A=1", "python train.py"), "Type it into a terminal."),
        (remedy("nvcc --version"), "Type it into a terminal."),
    ],
)
def test_each_command_has_its_place(given: Remedy, expected: str) -> None:
    place = where_to_type(given)
    assert place is not None
    assert expected in ENGLISH(place)


@pytest.mark.parametrize("words", ["Set this in the same terminal.", "在终端里设置。"])
def test_a_remedy_that_says_where_itself_is_not_told_again(words: str) -> None:
    assert where_to_type(replace(remedy("export A=1"), text=words)) is None
    assert where_to_type(replace(remedy("sudo x", root=True), text=words)) is not None


def test_a_remedy_without_commands_is_typed_nowhere() -> None:
    assert where_to_type(remedy()) is None


def test_what_the_title_says_already_is_no_heading_again() -> None:
    lsof = "COMMAND  PID  USER   FD   TYPE  DEVICE SIZE/OFF NODE NAME\npython  4242 alice  mem    CHR 195,255  450 /dev/nvidiactl"
    told = explain(compose("en"), lsof)
    (shown,) = accounts_shown(told)
    assert told.accounts[0].title == told.title
    assert not shown.title.message
    assert shown.lines == told.accounts[0].lines
