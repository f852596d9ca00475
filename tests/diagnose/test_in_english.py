"""What programs say in other languages is read in English, line by line, and shown as it was pasted."""

from __future__ import annotations

import re

from gpuassist.app import compose
from gpuassist.diagnose.in_english import in_english
from gpuassist.diagnose.signature import lowered
from gpuassist.formats.paste import read_paste
from gpuassist.knowledge.messages import BY_WORDS, LANGUAGES, ForeignMessage
from gpuassist.model.paste import Paste
from gpuassist.session.explain import explain
from tests.rows import for_each
from tests.values import knowledge

_PLACE = re.compile(r"\{(\d)\}")
# As a sentence stands in what a program prints: what surrounds it, where that decides what it means.
_AROUND = {"": "program: {}", "line": "{}", "linked": "/usr/bin/ld: {}", "relation": " nvidia-driver : {}: nvidia-dkms (= 535)"}
_FILLED = {"linked": ("-lcudart", "one.so", "two.so")}


def _filled(sentence: str, frame: str) -> str:
    given = _FILLED.get(frame, ("one-1.0", "two-2.0", "three-3.0", "four-4.0", "five-5.0"))
    return _PLACE.sub(lambda place: given[int(place[1])], sentence)


def _plain(words: str) -> str:
    """Letters and digits alone: quotation marks and the space around them are not what is asked."""
    return "".join(one for one in words.lower() if one.isalnum())


def _read(messages: tuple[ForeignMessage, ...]) -> list[str]:
    """Each as a line of one text."""
    lines = [_AROUND[one.frame].format(_filled(one.foreign, one.frame)) for one in messages]
    read = in_english(Paste("\n".join(("first", *lines, "last"))), knowledge()).words.split("\n")
    assert (read[0], read[-1], len(read)) == ("first", "last", len(lines) + 2)
    return read[1:-1]


@for_each("language", LANGUAGES)
def test_sentences_are_read_in_english(language: str) -> None:
    every = knowledge().messages(language)
    pieces = (every[start : start + 20] for start in range(0, len(every), 20))
    read = [(one, line) for piece in pieces for one, line in zip(piece, _read(piece), strict=True)]
    wrong = [(one, line) for one, line in read if _plain(_filled(one.english, one.frame)) not in _plain(line)]
    # What two programs say in the same words and mean otherwise is read as one of them means it.
    assert len(wrong) <= len(every) // 25, wrong


@for_each("language", BY_WORDS)
def test_each_language_shows_by_its_words(language: str) -> None:
    (marks,) = (one.words for one in knowledge().message_marks() if one.language == language)
    every = [set(re.findall(r"\w+", lowered(one.foreign))) for one in knowledge().messages(language)]
    assert sum(not words.isdisjoint(marks) for words in every) > len(every) * 0.95


def test_english_is_left_as_it_is() -> None:
    paste = Paste("bash: nvcc: command not found\n » “quoted” ： 训练 Ошибка сети\n")
    assert in_english(paste, knowledge()) is paste


def test_lines_are_quoted_as_they_were_pasted() -> None:
    words = "$ make\nbash: nvcc: Kommando nicht gefunden.\nmake: *** [Makefile:3: saxpy] Fehler 127"
    explained = explain(compose("en"), words)
    assert explained.paste.words == words
    first = explained.answers[0]
    shown = {evidence.source: dict(evidence.value.parameters).get("words") for evidence in first.evidence}
    assert first.id == "nvcc-not-on-path"
    assert shown["pasted text, line 2"] == "bash: nvcc: Kommando nicht gefunden."


@for_each(
    "line, told",
    [
        ("cudart が見つかりません", "cudart が見つかりません"),
        ("das Wort Abgebrochen steht hier", "das Wort Abgebrochen steht hier"),
        ("Depende: de lo que digas", "Depende: de lo que digas"),
        (
            "ld : ne peut pas trouver -lcuda : Aucun fichier ou dossier de ce type",
            "ld : cannot find -lcuda: No such file or directory",
        ),
        ("a.cu:1:10: 致命错误：cuda.h：没有那个文件或目录", "a.cu:1:10: fatal error: cuda.h: No such file or directory"),
    ],
)
def test_sentence_counts_where_a_program_says_it(line: str, told: str) -> None:
    assert in_english(read_paste(line), knowledge()).words == told


def test_long_text_of_another_language_costs_little() -> None:
    filler = "".join(f"Schritt {number}: Fehler {number} beim Lesen\n" for number in range(20_000))
    read = in_english(Paste(f"{filler}bash: nvcc: Kommando nicht gefunden.\n"), knowledge())
    assert read.words.endswith("bash: nvcc: command not found\n")
    assert read.words.count("\n") == 20_001
