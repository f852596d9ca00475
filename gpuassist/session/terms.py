"""The glossary for users in their language: an entry by whatever it is called, and the terms that a text uses."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator

from gpuassist.context import Session
from gpuassist.knowledge.terms import Term, TermsError, read_terms
from gpuassist.model.lazy_regex import lazy_regex
from gpuassist.model.nearest import nearest_names
from gpuassist.model.text import sentence
from gpuassist.model.words import Words

FILE = "terms.json"
_LONGEST = 20_000  # letters of a text; what is longer is a log or a guide, and its first terms are enough
_RUN = lazy_regex(r"[A-Za-z0-9_]+")
_NOT_TELLING = lazy_regex(r"[^\w.+]+")
_DIGITS = "0123456789"
_KIND = ("a", "f")  # of code for one chip or one family: sm_90a, sm_120f


class Glossary:
    """Every term, in the language of some words."""

    def __init__(self, terms: Iterable[Term], words: Words) -> None:
        self._terms = {one.key: one for one in terms}
        self._titles = {key: words(sentence(one.title)) for key, one in self._terms.items()}
        self._labels: dict[str, str] = {}
        self._asked: dict[str, str] = {}
        self._names: dict[str, list[tuple[str, str]]] = defaultdict(list)
        self._wide = tuple(
            (name, key)
            for key, one in self._terms.items()
            for said in (self._titles[key], *(words(sentence(name)) for name in one.words))
            for name in _wide(said)
        )
        for key, one in self._terms.items():
            for label in one.labels:
                self._labels.setdefault(_label(words(sentence(label))), key)
            for name in (key, one.title, self._titles[key], *one.names, *one.asked, *one.labels):
                self._asked.setdefault(_spelling(name), key)
            for name in (*one.names, *((self._titles[key],) if self._titles[key].isascii() else ())):
                first = _RUN.search(name)
                if first is not None:
                    self._names[first.group().rstrip("#").lower()].append((name, key))
        for name, key in self._wide:
            self._asked.setdefault(_spelling(name), key)

    @property
    def terms(self) -> tuple[Term, ...]:
        """By their titles, as a list of them is read."""
        return tuple(sorted(self._terms.values(), key=lambda one: self._titles[one.key].lower()))

    def title(self, key: str) -> str:
        return self._titles[key]

    def term(self, key: str) -> Term | None:
        return self._terms.get(key)

    def asked(self, name: str) -> Term | None:
        """The entry that is called so, in any spelling of it; none where none is."""
        spelled = _spelling(name)
        for one in (spelled, spelled.removesuffix("s"), _without_digits(spelled)):
            if one and one in self._asked:
                return self._terms[self._asked[one]]
        return None

    def nearest(self, name: str) -> tuple[Term, ...]:
        """The entries that may have been meant, the nearest first."""
        near = nearest_names(name, self._asked) or tuple(one for one in self._asked if len(name) > 1 and _spelling(name) in one)
        keys = dict.fromkeys(self._asked[one] for one in near)
        return tuple(self._terms[key] for key in keys)

    def of_label(self, label: str) -> Term | None:
        """The entry that a label of the window means as a whole, or that it names alone."""
        key = self._labels.get(_label(label))
        found = (self._terms[key],) if key is not None else self.in_text(label)
        return found[0] if len(found) == 1 else None

    def in_text(self, text: str) -> tuple[Term, ...]:
        """The terms that a text uses, each once, in the order in which they come."""
        text = text[:_LONGEST]
        whole = self._labels.get(_label(text))
        places = {whole: -1} if whole is not None else {}
        for at, key in self._found(text):
            places[key] = min(at, places.get(key, at))
        return tuple(self._terms[key] for key in sorted(places, key=lambda one: places[one]))

    def _found(self, text: str) -> Iterator[tuple[int, str]]:
        for run in _RUN.finditer(text):
            begin = run.group().lower()
            for first in {begin, begin.rstrip(_DIGITS), begin.removesuffix("s")}:
                for name, key in self._names.get(first, ()):
                    if _stands_at(name, text, run.start()):
                        yield run.start(), key
        yield from ((at, key) for name, key in self._wide if (at := text.find(name)) >= 0)


def glossary(session: Session) -> Glossary:
    """That of the session's language; empty where the file of a damaged copy cannot be read."""
    try:
        terms = read_terms(session.world.resources.read(FILE))
    except (OSError, TermsError):
        terms = ()
    return Glossary(terms, session.words)


def _stands_at(name: str, text: str, start: int) -> bool:
    """Whether a text has this name where its first letters or digits begin: small letters stand for either case and take an s."""
    first = _RUN.search(name)
    begin = start - (first.start() if first is not None else 0)
    if begin < 0 or (begin and _is_of_word(text[begin - 1])):
        return False
    plain, _, digits = name.partition("#")
    end = begin + len(plain)
    if text[begin:end] != plain and (plain != plain.lower() or text[begin:end].lower() != plain):
        return False
    if digits:
        behind = text[end:].lstrip(_DIGITS)
        counted, end = len(text) - end - len(behind), len(text) - len(behind)
        return counted > 1 and not _is_of_word(text[end + (text[end : end + 1] in _KIND and not plain.endswith("cu")) :][:1])
    return not _is_of_word(text[end + (text[end : end + 1] == "s") :][:1])


def _is_of_word(letter: str) -> bool:
    """Whether a name goes on with it; Chinese needs no blank after a name in Latin letters."""
    return letter.isascii() and (letter.isalnum() or letter == "_")


def _wide(said: str) -> Iterator[str]:
    """How a title that is not in Latin letters is found: itself, and what stands before and within its brackets."""
    for piece in said.replace("）", "（").split("（"):
        if len(piece) > 1 and not piece.isascii():
            yield piece


def _label(words: str) -> str:
    return words.strip().rstrip("…:：").lower()


def _spelling(name: str) -> str:
    """A name without what people leave out: case, blanks, dashes, brackets."""
    return _NOT_TELLING.sub("", name.lower()).replace("_", "").strip(".") or name.strip().lower()


def _without_digits(spelled: str) -> str:
    """`sm90a` as the entry of `sm_##` is spelled; `#` is left out of it as every sign is."""
    return spelled.rstrip("abcdef").rstrip(_DIGITS)
