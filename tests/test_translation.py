"""The words go to translators and come back: extraction, merging, building, and what ships."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from babel.messages.catalog import Message
from babel.messages.pofile import read_po

from gpuassist.context import languages, words_for
from gpuassist.diagnose.catalogue_entry import slots_of
from gpuassist.model.text import text
from gpuassist.model.words import ENGLISH
from gpuassist.system.resources import Resources
from hatch_build import compile_words, is_translated
from tests.translations import KNOWN_CHINESE, RESOURCES, catalogue, shipped, write_translation
from tools import words as tool

ROOT = RESOURCES.parent
LANGUAGES = tuple(path.stem for path in sorted((RESOURCES / "words").glob("*.po")))
PO = """msgid ""
msgstr ""
"Language: zh_CN\\n"
"Content-Type: text/plain; charset=utf-8\\n"
"Plural-Forms: nplurals=1; plural=0;\\n"

msgid "print the version"
msgstr "显示版本"

msgid "long gone"
msgstr "早已没有"
"""

every_language = pytest.mark.parametrize("language", LANGUAGES)


_template = cache(tool.extract)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder that the tool works in, with a little Chinese in it."""
    monkeypatch.setattr(tool, "extract", _template)
    monkeypatch.setattr(tool, "WORDS", tmp_path / "words")
    monkeypatch.setattr(tool, "TEMPLATE", tmp_path / "build" / "gpuassist.pot")
    (tmp_path / "words").mkdir()
    (tmp_path / "words" / "zh_CN.po").write_text(PO, "utf-8")
    return tmp_path / "words"


def _strings(message: Message) -> tuple[str, ...]:
    return (message.string,) if isinstance(message.string, str) else tuple(message.string or ())


def _translated(language: str) -> Iterator[tuple[str, str]]:
    """Each message with each of its forms."""
    for message in catalogue(language):
        for string in _strings(message) if message.id else ():
            if string:
                yield message.id if isinstance(message.id, str) else message.id[-1], string


def test_template_holds_the_messages_of_code_and_problems(folder: Path) -> None:
    tool.main([])
    template = (folder.parent / "build" / "gpuassist.pot").read_text("utf-8")
    assert 'msgid "print the version"' in template
    assert 'msgid_plural "{count} problems"' in template
    assert 'msgid "The program runs without the error."' in template
    assert 'msgid "Checked and fine: {checks}"' in template  # within an f-string


def test_merging_adds_new_messages_and_drops_old_ones(folder: Path) -> None:
    tool.main([])
    merged = (folder / "zh_CN.po").read_text("utf-8")
    assert 'msgid "print the version"\nmsgstr "显示版本"\n' in merged
    assert 'msgid "say on standard error what is being done"\nmsgstr ""\n' in merged
    assert "long gone" not in merged


def test_merging_again_changes_nothing(folder: Path) -> None:
    tool.main(["pl"])
    before = [(path.name, path.read_bytes()) for path in sorted(folder.iterdir())]
    assert [name for name, _ in before] == ["pl.po", "zh_CN.po"]
    tool.main([])
    assert [(path.name, path.read_bytes()) for path in sorted(folder.iterdir())] == before


def test_new_language_is_begun_with_its_plurals_and_its_name(folder: Path) -> None:
    tool.main(["pl"])
    with (folder / "pl.po").open("rb") as file:
        begun = read_po(file)
    assert (len(begun), begun.num_plurals > 2, begun.language_team) == (len(_template()), True, "Polish")


def test_complete_translation_is_used(tmp_path: Path) -> None:
    write_translation(tmp_path / "words", "zh_CN", KNOWN_CHINESE)
    words = words_for("zh_CN", Resources(tmp_path))
    assert (words.language, words.notice) == ("zh_CN", None)
    assert [words(text(message)) for message in KNOWN_CHINESE] == list(KNOWN_CHINESE.values())


@pytest.mark.parametrize("left", [{"print the version": ""}, dict.fromkeys(KNOWN_CHINESE, "")], ids=["one", "all"])
def test_translation_that_lacks_a_sentence_is_not_used_at_all(tmp_path: Path, left: dict[str, str]) -> None:
    write_translation(tmp_path / "words", "zh_CN", KNOWN_CHINESE | left)
    words = words_for("zh_CN", Resources(tmp_path))
    assert words.language == "en"
    assert [words(text(message)) for message in KNOWN_CHINESE] == list(KNOWN_CHINESE)
    assert words.notice is not None
    assert f"Chinese translation is not complete yet ({2 - len(left)} of 2 sentences)" in words(words.notice)


def test_guess_is_no_translation(folder: Path) -> None:
    source = folder / "zh_CN.po"
    source.write_text(PO.replace('msgid "long', '#, fuzzy\nmsgid "long'), "utf-8")
    compile_words(source)
    assert words_for("zh_CN", Resources(folder.parent)).notice is not None


@pytest.mark.parametrize("content", [b"", b"junk that is no catalogue at all", b"\xde\x12\x04\x95"])
def test_damaged_translation_leaves_english(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "words").mkdir()
    (tmp_path / "words" / "zh_CN.mo").write_bytes(content)
    assert words_for("zh_CN", Resources(tmp_path)).language == "en"


def test_languages_are_those_that_have_a_file(tmp_path: Path) -> None:
    assert languages(Resources(tmp_path)) == ("en",)
    for language in ("pl", "de"):
        write_translation(tmp_path / "words", language, {})
    assert languages(Resources(tmp_path)) == ("en", "de", "pl")


def test_wheel_holds_each_language_compiled(tmp_path: Path) -> None:
    project = tmp_path / "project"
    for name in ("pyproject.toml", "hatch_build.py", "README.md", "LICENSE", "gpuassist/__init__.py"):
        (project / name).parent.mkdir(exist_ok=True, parents=True)
        shutil.copy(ROOT / name, project / name)
    write_translation(project / "resources" / "words", "zh_CN", KNOWN_CHINESE)
    (project / "resources" / "words" / "zh_CN.mo").unlink()
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)]
    subprocess.run(build, cwd=project, check=True, capture_output=True, timeout=100)
    (wheel,) = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path / "installed")
    resources = Resources(tmp_path / "installed" / "gpuassist" / "_resources")
    assert words_for("zh_CN", resources)(text("print the version")) == KNOWN_CHINESE["print the version"]


@every_language
def test_shipped_translation_is_up_to_date_with_the_messages(language: str) -> None:
    """`make words` makes it so."""
    assert {message.id for message in catalogue(language)} == {message.id for message in _template()}


@every_language
def test_shipped_translation_is_complete(language: str) -> None:
    """Until it is, gpuassist speaks English: a sentence that is added is translated before it lands."""
    assert [message.id for message in catalogue(language) if message.id and not is_translated(message)] == []


@every_language
def test_shipped_language_has_every_guide(language: str) -> None:
    topics = {path.name.removesuffix(".en.md") for path in (RESOURCES / "guides").glob("*.en.md")}
    assert {path.name.removesuffix(f".{language}.md") for path in (RESOURCES / "guides").glob(f"*.{language}.md")} == topics


@every_language
def test_shipped_translation_fills_the_same_slots_and_quotes_the_same_code(language: str) -> None:
    for message, string in _translated(language):
        assert slots_of(string) == slots_of(message), string
        assert set(re.findall(r"`[^`]*`", string)) == set(re.findall(r"`[^`]*`", message)), string
        assert string == " ".join(string.split()) or message != " ".join(message.split()), string


def test_chinese_is_written_in_chinese() -> None:
    for message, string in _translated("zh_CN"):
        words = re.findall(r"[A-Za-z]{2,}", re.sub(r"\{\w*\}|`[^`]*`", "", message))
        assert re.search(r"[\u4e00-\u9fff]", string) or len(words) <= 4, string  # names, figures with their units, a path
        if ";;" not in message:  # filters of a file dialog have a syntax of their own
            assert not re.search(r"[\u4e00-\u9fff][,;:!?(]|[,;)][\u4e00-\u9fff]", string), string
        assert string.endswith("。") is message.endswith("."), string
        assert "} %" not in string, string
        assert "核函数" not in string, string  # one word for one thing: kernel, as programs say it


def test_words_that_are_joined_are_joined_as_the_language_does() -> None:
    row = text("{sentences} {sentence}", sentences="一。", sentence="二。")
    assert (shipped("zh_CN")(row), ENGLISH(row)) == ("一。二。", "一。 二。")
