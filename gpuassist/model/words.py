"""Texts to sentences in the user's language: the border where words are rendered."""

from __future__ import annotations

import gettext
from collections.abc import Callable, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from gpuassist.model.text import Parameter, Text


class Words(Struct, frozen=True):
    """Renders texts in one language; `strings` is what is done to every string in them.

    `notice` is said once, before all else: why these words are not in the language that was asked for.
    """

    language: str
    translations: gettext.NullTranslations
    strings: Callable[[str], str] | None = None
    notice: Text | None = None

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
            return self.translations.gettext(text.message)
        count = dict(text.parameters)["count"]
        return self.translations.ngettext(text.message, text.plural, count if isinstance(count, int) else 0)


def language_of(variables: Mapping[str, str], languages: Sequence[str]) -> str:
    """The one of these languages that the locale asks for (LC_ALL, LC_MESSAGES, LANG in that order), if only by its first part:
    what is there for zh_CN serves zh_TW as well. LANGUAGE goes before it, a list of which the first that is there counts, but not
    in the locale C (GNU gettext, "Specifying a Priority List of Languages").
    """
    locale = next((variables[name] for name in ("LC_ALL", "LC_MESSAGES", "LANG") if variables.get(name)), "")
    plain = locale.partition(".")[0] in {"", "C", "POSIX"}
    wanted = [locale] if plain else [*filter(None, variables.get("LANGUAGE", "").split(":")), locale]
    return next(filter(None, (_nearest(one, languages) for one in wanted)), "en")


def _nearest(locale: str, languages: Sequence[str]) -> str:
    """Empty where none of them is near."""
    wanted = locale.partition(".")[0].partition("@")[0].lower()
    first, _, _ = wanted.partition("_")
    near = (one for one in languages if one.lower().partition("_")[0] == first)
    return next((one for one in languages if one.lower() == wanted), next(near, ""))


ENGLISH = Words("en", gettext.NullTranslations())
