"""One more language is one file of words and its guides."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from gpuassist import app
from gpuassist.cli import main as cli
from gpuassist.context import Session, english_name, languages, own_name, spoken, words_for
from gpuassist.model.text import counted, enumerated, listed, text
from gpuassist.model.words import language_of
from gpuassist.session.guides import guide
from gpuassist.system.resources import Resources
from hatch_build import compile_words
from tests.fakes import world_under
from tests.translations import with_languages
from tests.values import knowledge

POLISH = r"""
msgid ""
msgstr ""
"Language: pl\n"
"Language-Team: Polish\n"
"Content-Type: text/plain; charset=utf-8\n"
"Plural-Forms: nplurals=3; plural=(n==1 ? 0 : n%10>=2 && n%10<=4 && (n%100<12 || n%100>14) ? 1 : 2);\n"

msgid "print the version"
msgstr "wypisz wersję"

msgid "{names}, {name}"
msgstr "{names}; {name}"

msgid "{names} and {last}"
msgstr "{names} i {last}"

msgid "{count} problem"
msgid_plural "{count} problems"
msgstr[0] "{count} problem"
msgstr[1] "{count} problemy"
msgstr[2] "{count} problemów"
"""


@pytest.fixture(scope="module")
def resources(tmp_path_factory: pytest.TempPathFactory) -> Resources:
    folder = tmp_path_factory.mktemp("third") / "copy"
    resources = with_languages(folder, {})
    (folder / "words").mkdir()
    (folder / "words" / "pl.po").write_text(POLISH, "utf-8")
    compile_words(folder / "words" / "pl.po")
    (folder / "guides" / "precision.pl.md").write_text("# Precyzja\n\nTekst.\n", "utf-8")
    return resources


def session(resources: Resources) -> Session:
    return Session(replace(world_under(Path("/nowhere")), resources=resources), knowledge(), words_for("pl", resources), "pl")


def test_it_is_offered_by_its_own_name(resources: Resources) -> None:
    assert languages(resources) == ("en", "pl")
    assert [(one.code, one.name, one.complete) for one in spoken(resources)] == [("en", "English", True), ("pl", "Polski", True)]
    words = words_for("pl", resources)
    assert (own_name(words), english_name(words)) == ("Polski", "Polish")


def test_it_is_what_a_desktop_in_it_speaks(resources: Resources) -> None:
    assert language_of({"LANG": "pl_PL.UTF-8"}, languages(resources)) == "pl"


def test_its_sentences_count_and_list_as_it_does(resources: Resources) -> None:
    words = words_for("pl", resources)
    counts = [words(counted("{count} problem", "{count} problems", number)) for number in (1, 2, 5, 12, 22)]
    assert counts == ["1 problem", "2 problemy", "5 problemów", "12 problemów", "22 problemy"]
    assert [words(row("abc")) for row in (listed, enumerated)] == ["a; b; c", "a; b i c"]


def test_the_command_line_speaks_it(resources: Resources, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        cli.main(["--lang", "pl", "--help"], compose=lambda _: session(resources), open_window=app.open_window)
    said = capsys.readouterr().out
    assert "wypisz wersję" in said
    assert "{en,pl}" in said


def test_its_guides_are_read(resources: Resources) -> None:
    assert [guide(session(resources), topic).title for topic in ("precision", "profilers")] == [
        "Precyzja",
        "Which profiler for what",
    ]


def test_rows_of_thousands_can_be_rendered(resources: Resources) -> None:
    words = words_for("pl", resources)
    assert words(listed(map(str, range(5000)))).count("; ") == 4999
    assert words(text("{names}", names=enumerated(map(str, range(5000))))).endswith(" i 4999")
    assert [words(listed(names)) for names in ((), ("a",), ("a", "a"))] == ["", "a", "a; a"]
