"""Makes resources/knowledge/messages/<language>.json and message_marks.json from the message catalogues of Debian's packages.

Run from the project's root: `python -m tools.refresh_messages UNPACKED --release 'Debian 12' --checked DAY`, where UNPACKED holds a
folder for each package of `CATALOGUES`, `apt-get download PACKAGE` and `dpkg-deb -x FILE UNPACKED/PACKAGE`.

A row is a sentence that a program prints in that language and what it prints in English, with `{0}` where it names something.
Which sentences are taken stands in `CATALOGUES`: those that point to a fault of the GPU's software, or to what is none. The marks
are words of a language that its sentences need and no English sentence has: without one of them a text is not looked through.
"""

from __future__ import annotations

import argparse
import gettext
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from gpuassist.knowledge.messages import BY_WORDS, LANGUAGES
from tools.message_sentences import ALSO_SEEN, CATALOGUES, FRAMED, SEEN_SOURCE
from tools.tables import Row, write_table

KNOWLEDGE = Path("resources/knowledge")
GUIDES = sorted(Path("resources/guides").glob("*.en.md"))

# A place that printf, gcc, ld, Boost or Python fills; of ld, `%X` and `%F` print nothing and `%P` its own name.
PLACE = re.compile(
    r"%(?:\((?P<key>\w+)\)|(?P<number>\d+)\$|(?P<boost>\d+)(?=%))?(?:%(?<=\d%)|[-+ #0']{0,3}(?:\*|\d+)?(?:\.(?:\*|\d+))?"
    r"(?:hh|ll|[hljztqL]|q?[+]?)?p?[a-zA-Z])"
)
SILENT = re.compile(r"%[XF](?=%)|%[<>]")
NO_BREAK = re.compile("[\u00a0\u202f]")
COLON = re.compile(r"^\s?[:：]\s?")
WORD = re.compile(r"[^\W\d_]{3,}")
QUOTED = re.compile(r"%q[+]?[a-zA-Z]")

Catalogue = Mapping[str, str]


def main() -> None:
    """Writes all tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("unpacked", type=Path)
    parser.add_argument("--release", required=True, help="the distribution that the packages are of")
    parser.add_argument("--checked", required=True, help="today, as YYYY-MM-DD")
    options = parser.parse_args()
    english = {word for place in GUIDES for word in words_of(place.read_text("utf-8"))}
    sentences: dict[str, list[Row]] = {}
    for language in LANGUAGES:
        rows: dict[str, Row] = {}
        for source, (package, domain, wanted) in CATALOGUES.items():
            catalogue = read_catalogue(options.unpacked / package, domain, language)
            english.update(word for one in catalogue for word in words_of(one))
            for row in sentences_of(catalogue, wanted, source):
                rows.setdefault(row["foreign"].lower(), row)
        for foreign, meant in ALSO_SEEN.get(language, {}).items():
            rows.setdefault(foreign.lower(), {"foreign": foreign, "english": meant, "source": "seen"})
        sentences[language] = list(rows.values())
    header_sources = {
        source: {"text": f"{options.release}, package {package}, catalogue {domain}", "checked": options.checked}
        for source, (package, domain, _) in CATALOGUES.items()
    }
    header_sources["seen"] = {"text": SEEN_SOURCE, "checked": options.checked}
    for language, kept in sentences.items():
        used = {row["source"] for row in kept}
        sources = {name: source for name, source in header_sources.items() if name in used}
        header = {"kind": f"messages/{language}", "schema": 1, "sources": sources}
        write_table(KNOWLEDGE / "messages" / f"{language}.json", header, kept, ascii_only=False)
    marks = [{"language": language, "words": marking(sentences[language], english), "source": "chosen"} for language in BY_WORDS]
    chosen = {"text": f"the sentences of messages/, without words of English ones ({options.release})", "checked": options.checked}
    write_table(
        KNOWLEDGE / "message_marks.json",
        {"kind": "message_marks", "schema": 1, "sources": {"chosen": chosen}},
        marks,
        ascii_only=False,
    )
    for language, kept in sentences.items():
        print(f"{language}: {len(kept)} sentences")


def read_catalogue(package: Path, domain: str, language: str) -> Catalogue:
    """The sentences of a program by their English; empty where it does not speak that language."""
    places = sorted(package.rglob(f"{language}/LC_MESSAGES/{domain}.mo"))
    if not places:
        return {}
    with places[0].open("rb") as file:
        every: dict[object, str] = vars(gettext.GNUTranslations(file))["_catalog"]
    return {given: said for given, said in every.items() if isinstance(given, str) and given and said}


def sentences_of(catalogue: Catalogue, wanted: Iterable[str], source: str) -> Iterator[Row]:
    """The rows of a catalogue, a line of a sentence each."""
    pairs = {plain(given): (given, said) for given, said in catalogue.items()}
    for one in wanted:
        given, said = pairs.get(plain(one), ("", ""))
        ours, theirs = given.strip("\n").split("\n"), said.strip("\n").split("\n")
        if not said or len(ours) != len(theirs):
            continue
        for english, foreign in zip(ours, theirs, strict=True):
            row = row_of(english, foreign, source, FRAMED.get(one, ""))
            if row is not None:
                yield row


def plain(english: str) -> str:
    """A sentence by which it is found, however its program begins and ends the line, and whatever fills its places."""
    return joined(reduced(english.strip(), english.strip())[0])


def row_of(english: str, foreign: str, source: str, frame: str) -> Row | None:
    """A sentence without what it begins or ends with in both languages; None where nothing of it is translated."""
    ours, theirs = reduced(english, foreign)
    while frame != "linked" and ours and theirs and ours[-1] == theirs[-1] and isinstance(ours[-1], int):
        del ours[-1], theirs[-1]
    texts = [one for one in theirs if isinstance(one, str)]
    if not ours or not any(WORD.search(one) or not one.isascii() for one in texts):
        return None
    if {one for one in ours if isinstance(one, int)} - {one for one in theirs if isinstance(one, int)}:
        return None  # a place that the other language leaves out
    row = {"foreign": joined(theirs).strip(), "english": joined(ours).strip(), "source": source}
    if row["english"].startswith("[{0}: {1}] "):  # older makes name the target alone
        row = {**row, **{name: row[name][row[name].index("]") :] for name in ("foreign", "english")}}
    if row["foreign"].lower() == row["english"].lower():
        return None
    return {**row, "frame": frame} if frame else row


def reduced(english: str, foreign: str) -> tuple[list[str | int], list[str | int]]:
    """Both without the places before a colon at their beginning, the name of a program or of a file."""
    ours, theirs = numbered(english), numbered(foreign)
    while len(ours) > 1 and len(theirs) > 1 and isinstance(ours[0], int) and ours[0] == theirs[0]:
        rest = [COLON.sub("", one, count=1) if isinstance(one, str) else "" for one in (ours[1], theirs[1])]
        if rest[0] == ours[1] or rest[1] == theirs[1]:
            if isinstance(ours[1], str) and isinstance(theirs[1], str) and not ours[1][0].isalnum() and ours[1][0] == theirs[1][0]:
                del ours[0], theirs[0]
            break
        ours[:2], theirs[:2] = ([one] if one else [] for one in rest)
    order = {number: place for place, number in enumerate(dict.fromkeys(one for one in ours if isinstance(one, int)))}
    ours, theirs = ([order.get(one, one) if isinstance(one, int) else one for one in parts] for parts in (ours, theirs))
    return ours, theirs


def numbered(sentence: str) -> list[str | int]:
    """Its words and the numbers of its places, in their order."""
    sentence = QUOTED.sub(lambda found: f"'{found[0].replace('q', '', 1)}'", SILENT.sub("", sentence)).replace("%%", "％")
    sentence = NO_BREAK.sub(" ", sentence)
    parts: list[str | int] = []
    end, count, keys = 0, 0, list[str]()
    for found in PLACE.finditer(sentence):
        if found.start() > end:
            parts.append(sentence[end : found.start()])
        if found["key"]:
            keys = keys if found["key"] in keys else [*keys, found["key"]]
            parts.append(keys.index(found["key"]))
        elif found["number"] or found["boost"]:
            parts.append(int(found["number"] or found["boost"]) - 1)
        else:
            parts.append(count)
            count += 1
        end = found.end()
    if end < len(sentence):
        parts.append(sentence[end:])
    return parts


def joined(parts: Iterable[str | int]) -> str:
    return "".join(one if isinstance(one, str) else f"{{{one}}}" for one in parts)


def words_of(sentence: str) -> Iterator[str]:
    """Its words in lower case."""
    return (found[0].lower() for found in WORD.finditer(sentence))


def marking(rows: list[Row], english: set[str]) -> str:
    """The fewest words of which every sentence has one and English none, those that stand in most sentences first."""
    open_ = [{word for word in words_of(row["foreign"]) if word not in english} for row in rows]
    open_ = [words for words in open_ if words]
    chosen: list[str] = []
    while open_:
        counted = Counter(word for words in open_ for word in words)
        best = max(counted, key=lambda word: (counted[word], len(word), word))
        chosen.append(best)
        open_ = [words for words in open_ if best not in words]
    return " ".join(sorted(chosen))


if __name__ == "__main__":
    main()
