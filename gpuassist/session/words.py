"""Texts to sentences in the user's language: the border where words are rendered."""

from __future__ import annotations

import gettext
import io
from collections.abc import Mapping

from gpuassist.formats.visible import on_one_line
from gpuassist.model.text import Parameter, Text
from gpuassist.system.resources import Resources

LANGUAGES = ("en", "zh_CN")
# How names stand in a row in the sentences of the catalogue, whose translations do not come from here.
_ROWS = {"zh_CN": {"{names}, {name}": "{names}、{name}", "{names} and {last}": "{names}和{last}"}}


class Words:
    """Renders texts in one language."""

    def __init__(self, language: str, translations: gettext.NullTranslations, *, for_labels: bool = False) -> None:
        self.language = language
        self._translations = translations
        self._for_labels = for_labels

    def __call__(self, text: Text) -> str:
        """The sentence, its parameters filled in; a text among them is rendered first."""
        parameters = {name: self._parameter(value) for name, value in text.parameters}
        return self._message(text).format(**parameters)

    def for_labels(self) -> Words:
        """These words where what they name is seen at once: on a label, which has no border behind it as a terminal has.

        What is put together for a command or a document is rendered without, because there the value counts.
        """
        return Words(self.language, self._translations, for_labels=True)

    def _parameter(self, value: Parameter) -> str | int | float:
        if isinstance(value, Text):
            return self(value)
        return on_one_line(value) if self._for_labels and isinstance(value, str) else value

    def _message(self, text: Text) -> str:
        if not text.plural:
            translated = self._translations.gettext(text.message)
            return _ROWS.get(self.language, {}).get(translated, translated)
        count = dict(text.parameters)["count"]
        return self._translations.ngettext(text.message, text.plural, count if isinstance(count, int) else 0)


def words_for(language: str, resources: Resources) -> Words:
    """Words of a language; English where no translation of it ships."""
    try:
        compiled = resources.read(f"words/{language}/LC_MESSAGES/gpuassist.mo")
    except FileNotFoundError:
        return Words(language, gettext.NullTranslations())
    return Words(language, gettext.GNUTranslations(io.BytesIO(compiled)))


def language_of(variables: Mapping[str, str]) -> str:
    """The language that the locale asks for (LC_ALL, LC_MESSAGES, LANG in that order), among those that gpuassist has."""
    for name in ("LC_ALL", "LC_MESSAGES", "LANG"):
        if variables.get(name):
            return "zh_CN" if variables[name].lower().startswith("zh") else "en"
    return "en"


ENGLISH = Words("en", gettext.NullTranslations())
