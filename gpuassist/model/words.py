"""Texts to sentences in the user's language: the border where words are rendered."""

from __future__ import annotations

import gettext
from collections.abc import Callable, Mapping

from msgspec import Struct
from msgspec.structs import replace

from gpuassist.model.text import Parameter, Text

LANGUAGES = ("en", "zh_CN")
# How names stand in a row in the sentences of the catalogue, whose translations do not come from here.
_ROWS = {"zh_CN": {"{names}, {name}": "{names}、{name}", "{names} and {last}": "{names}和{last}"}}


class Words(Struct, frozen=True):
    """Renders texts in one language; `strings` is what is done to every string in them."""

    language: str
    translations: gettext.NullTranslations
    strings: Callable[[str], str] | None = None

    def __call__(self, text: Text) -> str:
        """The sentence, its parameters filled in; a text among them is rendered first."""
        parameters = {name: self._parameter(value) for name, value in text.parameters}
        return self._message(text).format(**parameters)

    def with_strings(self, shown: Callable[[str], str]) -> Words:
        """These words with every string in them as `shown` has it: for labels, which have no border behind them as a terminal has.

        What is put together for a command or a document is rendered without, because there the value counts.
        """
        return replace(self, strings=shown)

    def _parameter(self, value: Parameter) -> str | int | float:
        if isinstance(value, Text):
            return self(value)
        return self.strings(value) if self.strings is not None and isinstance(value, str) else value

    def _message(self, text: Text) -> str:
        if not text.plural:
            translated = self.translations.gettext(text.message)
            return _ROWS.get(self.language, {}).get(translated, translated)
        count = dict(text.parameters)["count"]
        return self.translations.ngettext(text.message, text.plural, count if isinstance(count, int) else 0)


def language_of(variables: Mapping[str, str]) -> str:
    """The language that the locale asks for (LC_ALL, LC_MESSAGES, LANG in that order), among those that gpuassist has."""
    for name in ("LC_ALL", "LC_MESSAGES", "LANG"):
        if variables.get(name):
            return "zh_CN" if variables[name].lower().startswith("zh") else "en"
    return "en"


ENGLISH = Words("en", gettext.NullTranslations())
