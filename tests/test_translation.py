"""The words go to translators and come back: extraction, merging, compiling, and the window's language."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

from gpuassist.context import words_for
from gpuassist.model.text import text
from gpuassist.system.resources import Resources

SCRIPT = Path(__file__).resolve().parent.parent / "tools" / "words.py"
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


@pytest.fixture
def words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The script, writing into a folder of the test's own."""
    spec = importlib.util.spec_from_file_location("words_script", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    monkeypatch.setattr(module, "WORDS", tmp_path / "words")
    return module


def _translated(words: ModuleType) -> Path:
    place = Path(words.WORDS) / "zh_CN" / "LC_MESSAGES" / "gpuassist.po"
    place.parent.mkdir(parents=True)
    place.write_text(PO, "utf-8")
    words.main()
    return place


def test_template_holds_messages_and_plurals_the_same_each_time(words: ModuleType) -> None:
    words.main()
    template = (Path(words.WORDS) / "gpuassist.pot").read_text("utf-8")
    assert 'msgid "print the version"' in template
    assert 'msgid_plural "{count} problems"' in template
    words.main()
    assert (Path(words.WORDS) / "gpuassist.pot").read_text("utf-8") == template


def test_translation_is_compiled_and_used(words: ModuleType, tmp_path: Path) -> None:
    _translated(words)
    assert words_for("zh_CN", Resources(tmp_path))(text("print the version")) == "显示版本"


def test_merging_adds_new_messages_and_drops_old_ones(words: ModuleType) -> None:
    merged = _translated(words).read_text("utf-8")
    assert 'msgid "say on standard error what is being done"' in merged
    assert "long gone" not in merged
