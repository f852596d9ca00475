"""How a message is found in a text, and what a match means."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from gpuassist.diagnose.case import RuleInput
from gpuassist.diagnose.signature import Sign, Signature, SignatureInput, clues, means, sign
from gpuassist.model.machine import Machine
from gpuassist.model.paste import Clue, Paste, Weight
from tests.values import knowledge

ARCHITECTURE = Signature(
    ("unsupported gpu architecture",),
    r"unsupported gpu architecture '(?:compute|sm)_(?P<architecture>\d+)'",
    means("nvcc-arch-too-new", Weight.STATE),
)


def _setting(words: str) -> SignatureInput:
    return SignatureInput(Paste(words), RuleInput(Machine(), knowledge()))


def _found(signature: Signature, words: str, **options: int) -> list[Clue]:
    return list(clues(signature, _setting(words), **options))


def test_message_is_found_with_its_line_and_parameters() -> None:
    (clue,) = _found(ARCHITECTURE, "make\nnvcc fatal   : Unsupported gpu architecture 'compute_89'\n")
    assert clue.passage.line == 2
    assert clue.passage.words == "Unsupported gpu architecture 'compute_89'"
    assert clue.parameters == (("architecture", "89"),)


def test_case_of_letters_does_not_count() -> None:
    assert _found(ARCHITECTURE, "UNSUPPORTED GPU ARCHITECTURE 'COMPUTE_89'")


def test_literal_without_the_pattern_is_nothing() -> None:
    assert _found(ARCHITECTURE, "an unsupported gpu architecture, they said") == []


def test_every_occurrence_is_found_in_order() -> None:
    words = "\n".join(f"Unsupported gpu architecture 'compute_{number}'" for number in (50, 60, 61))
    assert [dict(clue.parameters)["architecture"] for clue in _found(ARCHITECTURE, words)] == ["50", "60", "61"]


def test_a_log_that_repeats_itself_is_cut() -> None:
    words = "".join(f"Unsupported gpu architecture 'compute_{number}'\n" for number in range(500))
    assert len(_found(ARCHITECTURE, words, most=20)) == 20


def test_the_same_words_are_one_passage() -> None:
    (clue,) = _found(ARCHITECTURE, "first\n" + "Unsupported gpu architecture 'compute_89'\n" * 500)
    assert clue.passage.line == 2


def test_message_at_the_end_of_many_near_misses_is_found() -> None:
    near = "Unsupported gpu architecture: see above\n" * 20_000
    (clue,) = _found(ARCHITECTURE, near + "Unsupported gpu architecture 'compute_89'")
    assert clue.passage.line == 20_001


def test_pattern_is_searched_before_its_literal_as_well() -> None:
    one = Signature(
        ("fallen off the bus",), r"Xid \(PCI:[^)]*\): (?P<xid>\d+), .*fallen off the bus", means("xid-79-gpu-fell-off-bus")
    )
    (clue,) = _found(one, "NVRM: Xid (PCI:0000:01:00): 79, GPU has fallen off the bus.")
    assert clue.parameters == (("xid", "79"),)


def test_pattern_reaches_no_further_than_its_window() -> None:
    one = Signature(("first",), r"first(?s:.*)second", means("no-driver"), window=50)
    assert _found(one, "first " + "x" * 20 + " second")
    assert not _found(one, "first " + "x" * 200 + " second")


def test_two_literals_in_one_message_are_one_clue() -> None:
    one = Signature(("out of memory", "tried to allocate"), r"out of memory\. tried to allocate \d+", means("oom-true"))
    assert len(_found(one, "CUDA out of memory. Tried to allocate 20 MiB")) == 1


def test_passage_is_one_short_line() -> None:
    one = Signature(("begin",), r"begin(?s:.*)end", means("no-driver"), window=2000)
    (clue,) = _found(one, "begin\n   " + "word\n " * 200 + "end")
    assert "\n" not in clue.passage.words
    assert len(clue.passage.words) <= 302
    assert clue.passage.words.endswith("word …")


@pytest.mark.parametrize(
    ("line", "quoted"),
    [
        ("CUDA error 35: no driver", "CUDA error 35 …"),
        ("CUDA error 356", "CUDA error 356"),
        ("CUDA error 35 .", "CUDA error 35"),
        ("CUDA error 35\nnext", "CUDA error 35"),
    ],
)
def test_passage_whose_line_goes_on_is_marked(line: str, quoted: str) -> None:
    (clue,) = _found(Signature(("cuda error",), r"cuda error \d{2}", means("no-driver")), line)
    assert clue.passage.words == quoted


def test_offsets_survive_letters_that_grow_in_lower_case() -> None:
    (clue,) = _found(ARCHITECTURE, "İİİİ\nUnsupported gpu architecture 'compute_89'")
    assert clue.passage.line == 2
    assert clue.parameters == (("architecture", "89"),)


def test_fixed_parameters_stand_beside_those_of_the_text() -> None:
    meaning = means("no-driver", where="container", code="0")
    match = re.search(r"error (?P<code>\d+)", "error 35")
    assert match is not None
    assert list(meaning(match, _setting(""))) == [Sign("no-driver", Weight.CAUSE, (("where", "container"), ("code", "35")))]


def test_a_group_that_took_no_part_gives_no_parameter() -> None:
    match = re.search(r"error(?: (?P<code>\d+))?", "error")
    assert match is not None
    assert list(means("no-driver")(match, _setting(""))) == [Sign("no-driver", Weight.CAUSE, ())]


def test_meaning_may_ask_the_whole_text() -> None:
    def meaning(_: re.Match[str], setting: SignatureInput) -> Iterator[Sign]:
        yield sign("container-no-gpu-flag" if setting.says("docker run") else "no-driver")

    one = Signature(("no gpu",), "no gpu", meaning)
    assert _found(one, "$ Docker run x\nno GPU")[0].problem == "container-no-gpu-flag"
    assert _found(one, "no GPU")[0].problem == "no-driver"


@pytest.mark.parametrize(("offset", "line"), [(0, 1), (3, 1), (4, 2), (5, 3), (7, 3)])
def test_lines_are_counted_from_one(offset: int, line: int) -> None:
    assert _setting("abc\n\nde").line_at(offset) == line


LONG_LOG = "".join(f"step {number} of 9000: loss 0.25\n" for number in range(9000))


@pytest.mark.parametrize("literal", ["step 4711 of", "xid 79", "tail", "9000: loss", "0.25 step 1 of"])
def test_long_log_says_what_it_says(literal: str) -> None:
    setting = _setting(f"{LONG_LOG}NVRM: Xid 79\nTail")
    assert len(setting.lowered) > 64 << 10
    assert setting.says(literal)


@pytest.mark.parametrize("literal", ["step 9999 of", "xid 78", "step of", "0.26", "0.25 step 9000 of"])
def test_long_log_says_nothing_else(literal: str) -> None:
    assert not _setting(f"{LONG_LOG}NVRM: Xid 79\nTail").says(literal)


def test_pattern_is_looked_for_once_in_a_text() -> None:
    setting = _setting("one\ntwo\n")
    assert setting.finds(re.compile("two")) is setting.finds(re.compile("two"))
    assert setting.finds(re.compile("three")) is None


def test_pattern_is_found_where_it_runs_over_the_end_of_a_piece() -> None:
    words = "x" * 16_382 + "first\nsecond" + "\nz" * 20_000
    found = _setting(words).finds(re.compile(r"first\s+second"))
    assert found is not None
    assert found.start() == words.index("first")
