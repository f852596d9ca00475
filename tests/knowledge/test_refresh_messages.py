"""The tool that reads message catalogues: sentences in both languages, their places, and the words by which a language shows."""

from __future__ import annotations

import struct
from pathlib import Path

from tests.rows import for_each
from tools.refresh_messages import marking, read_catalogue, sentences_of


def _write_catalogue(place: Path, sentences: dict[str, str]) -> None:
    """The binary form of gettext: a header, two tables of lengths and places, the sentences in order."""
    pairs = sorted(
        (one.encode(), other.encode()) for one, other in {"": "Content-Type: text/plain; charset=UTF-8\n", **sentences}.items()
    )
    start = 28 + 16 * len(pairs)
    tables, body = [b"", b""], b""
    for side in (0, 1):
        for pair in pairs:
            tables[side] += struct.pack("<II", len(pair[side]), start + len(body))
            body += pair[side] + b"\0"
    header = struct.pack("<IIIIIII", 0x950412DE, 0, len(pairs), 28, 28 + 8 * len(pairs), 0, start)
    place.parent.mkdir(parents=True)
    place.write_bytes(header + tables[0] + tables[1] + body)


def test_catalogue_of_a_package_is_read(tmp_path: Path) -> None:
    _write_catalogue(tmp_path / "usr/share/locale/de/LC_MESSAGES/make.mo", {"Stop.": "Schluss.", "left": ""})
    assert read_catalogue(tmp_path, "make", "de") == {"Stop.": "Schluss."}
    assert read_catalogue(tmp_path, "make", "fr") == {}


@for_each(
    "english, foreign, row",
    [
        ("No such file", "Nicht da", ("No such file", "Nicht da")),
        ("%s: command not found", "%s : introuvable", ("command not found", "introuvable")),
        ("%P: cannot find %s: %E\n", "%P: %s ist nicht da: %E\n", ("cannot find {0}:", "{0} ist nicht da:")),
        ("%s[%s: %s] Error %d%s", "%s[%s: %s] Fehler %d%s", ("] Error", "] Fehler")),
        ("No %2$s in %1$s", "In %1$s kein %2$s", ("No {0} in {1}", "In {1} kein {0}")),
        ("%(command)s is missing", "es fehlt %(command)s", ("{0} is missing", "es fehlt {0}")),
        ("File '%1%' is bad", "Datei '%1%' taugt nichts", ("File '{0}' is bad", "Datei '{0}' taugt nichts")),
        ("cannot execute %qs", "%qs geht nicht", ("cannot execute '{0}'", "'{0}' geht nicht")),
        ("%X%H: undefined `%pT'", "%X%H: unbekannt `%pT'", ("undefined `{0}'", "unbekannt `{0}'")),
    ],
)
def test_sentence_becomes_a_row(english: str, foreign: str, row: tuple[str, str]) -> None:
    (found,) = sentences_of({english: foreign}, [english], "a catalogue")
    assert (found["english"], found["foreign"]) == row


@for_each(
    "english, foreign",
    [("Error", "Error"), ("%s: %s", "%s: %s"), ("%s needs %s", "%s fehlt etwas"), ("one\ntwo", "eins"), ("%s:%d", "%s:%d")],
)
def test_what_is_not_translated_is_left_out(english: str, foreign: str) -> None:
    assert list(sentences_of({english: foreign}, [english], "a catalogue")) == []


def test_marks_are_few_and_not_english() -> None:
    rows = [{"foreign": "Datei nicht da"}, {"foreign": "Datei ist voll"}, {"foreign": "in Error"}]
    assert marking(rows, {"voll", "error", "da"}) == "datei"
