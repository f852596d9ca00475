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


@pytest.fixture(scope="module")
def words(tmp_path_factory: pytest.TempPathFactory) -> ModuleType:
    """The script, which has written into a folder of its own and merged what a translator sent."""
    spec = importlib.util.spec_from_file_location("words_script", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    vars(module)["WORDS"] = tmp_path_factory.mktemp("translated") / "words"
    sent = _translation(module)
    sent.parent.mkdir(parents=True)
    sent.write_text(PO, "utf-8")
    module.main()
    return module


def _translation(words: ModuleType) -> Path:
    return Path(words.WORDS) / "zh_CN" / "LC_MESSAGES" / "gpuassist.po"


def test_template_holds_messages_and_plurals_the_same_each_time(words: ModuleType) -> None:
    template = (Path(words.WORDS) / "gpuassist.pot").read_text("utf-8")
    assert 'msgid "print the version"' in template
    assert 'msgid_plural "{count} problems"' in template
    words.main()
    assert (Path(words.WORDS) / "gpuassist.pot").read_text("utf-8") == template


def test_translation_is_compiled_and_used(words: ModuleType) -> None:
    assert words_for("zh_CN", Resources(Path(words.WORDS).parent))(text("print the version")) == "显示版本"


def test_merging_adds_new_messages_and_drops_old_ones(words: ModuleType) -> None:
    merged = _translation(words).read_text("utf-8")
    assert 'msgid "say on standard error what is being done"' in merged
    assert "long gone" not in merged
