"""Extracts the program's words for translators and compiles the translations that are there.

`python tools/words.py` writes resources/words/gpuassist.pot, brings each .po up to date with it, and compiles it to a .mo.
"""

from __future__ import annotations

import sys
from datetime import datetime, timezone
from pathlib import Path

from babel.messages.catalog import Catalog
from babel.messages.extract import extract_from_dir
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po, write_po

ROOT = Path(__file__).resolve().parent.parent
WORDS = ROOT / "resources" / "words"
_NO_DATE = datetime(2026, 1, 1, tzinfo=timezone.utc)  # so that the file changes only when the words do
KEYWORDS = {"text": None, "counted": (1, 2)}


def main() -> int:
    """Extracts, merges, compiles."""
    template = extract()
    WORDS.mkdir(parents=True, exist_ok=True)
    with (WORDS / "gpuassist.pot").open("wb") as file:
        write_po(file, template, omit_header=False, sort_output=True, no_location=True, ignore_obsolete=True)
    for source in sorted(WORDS.glob("*/LC_MESSAGES/gpuassist.po")):
        _merge(source, template)
    print(f"{len(template)} messages")
    return 0


def extract() -> Catalog:
    """Every message that the program can show, as a catalogue without translations."""
    template = Catalog(project="gpuassist", charset="utf-8", creation_date=_NO_DATE)
    found = extract_from_dir(ROOT / "gpuassist", method_map=[("**.py", "python")], keywords=KEYWORDS)
    for _, _, message, _, _ in found:
        template.add(message, flags=["python-brace-format"])
    return template


def _merge(source: Path, template: Catalog) -> None:
    with source.open("rb") as file:
        catalogue = read_po(file, locale=source.parent.parent.name)
    catalogue.update(template)
    with source.open("wb") as file:
        write_po(file, catalogue, sort_output=True, no_location=True, ignore_obsolete=True)
    with source.with_suffix(".mo").open("wb") as file:
        write_mo(file, catalogue)


if __name__ == "__main__":
    sys.exit(main())
