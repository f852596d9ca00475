"""Takes every message to the translators: brings each `resources/words/<language>.po` up to date with the program.

`python tools/words.py [LANGUAGE]...` keeps the translations that are there, adds new messages untranslated and drops those that are
gone. It begins a file for each LANGUAGE that has none, and writes a template for translators' own tools to build/gpuassist.pot.
"""

from __future__ import annotations

import ast
import json
import sys
from collections.abc import Iterator
from datetime import datetime, timezone
from pathlib import Path

from babel import Locale
from babel.messages.catalog import Catalog
from babel.messages.pofile import read_po, write_po

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from gpuassist.diagnose.catalogue_entry import entries_in, read_entry  # noqa: E402
from gpuassist.diagnose.questions import read_questions  # noqa: E402
from gpuassist.knowledge.terms import read_terms  # noqa: E402
from gpuassist.model.text import sentence  # noqa: E402
from hatch_build import is_translated  # noqa: E402

WORDS = ROOT / "resources" / "words"
TEMPLATE = ROOT / "build" / "gpuassist.pot"
MESSAGES = {"text": 1, "counted": 2}  # how many of a call's arguments are forms of a message
# Fields of knowledge that are sentences of ours; they are shown as `model.text.sentence`.
SENTENCES = {
    "xids": ("meaning", "action"),
    "codes": ("meaning", "action"),
    "code_states": ("reason",),
    "bad_pairs": ("why", "remedy"),
    "wheels": ("role",),
    "conda_packages": ("role",),
    "resident_programs": ("how", "inside"),
}
_NO_DATE = datetime(2026, 1, 1, tzinfo=timezone.utc)  # so that a file changes only when its words do


def main(languages: list[str]) -> int:
    """Brings the files up to date, and says how far each translation is."""
    template = extract()
    TEMPLATE.parent.mkdir(parents=True, exist_ok=True)
    _write(TEMPLATE, template)
    WORDS.mkdir(parents=True, exist_ok=True)
    for language in sorted({*languages, *(one.stem for one in WORDS.glob("*.po"))}):
        catalogue = merged(WORDS / f"{language}.po", template)
        _write(WORDS / f"{language}.po", catalogue)
        print(f"{language}: {sum(is_translated(one) for one in catalogue if one.id)} of {len(catalogue)} messages")
    return 0


def extract() -> Catalog:
    """Every message that the program can show, as a catalogue without translations."""
    template = Catalog(project="gpuassist", creation_date=_NO_DATE, fuzzy=False)
    for message in (
        *_of_code(),
        *_of_problems(),
        *_of_questions(),
        *_of_verifications(),
        *_of_knowledge(),
        *_of_examples(),
        *_of_terms(),
    ):
        template.add(message, flags=["python-brace-format"] if "{" in str(message) else ())
    return template


def merged(source: Path, template: Catalog) -> Catalog:
    """A language's messages: those of the template, with the translations that its file has."""
    if source.exists():
        with source.open("rb") as file:
            catalogue = read_po(file, locale=source.stem)
    else:
        name = Locale.parse(source.stem).get_language_name("en")
        catalogue = Catalog(source.stem, project="gpuassist", language_team=name, revision_date=_NO_DATE, fuzzy=False)
        catalogue.version = catalogue.msgid_bugs_address = catalogue.last_translator = ""
        catalogue.header_comment = f"# The words of gpuassist in {name}; `make words` keeps it up to date with the program."
    # No guesses: to look for them takes minutes, and one may be taken for a translation.
    catalogue.update(template, no_fuzzy_matching=True)
    return catalogue


def _of_code() -> Iterator[str | tuple[str, ...]]:
    """What `text` and `counted` are called with, read as Python reads it: babel takes an f-string for one piece, calls and all."""
    for path in sorted((ROOT / "gpuassist").rglob("*.py")):
        source = path.read_text("utf-8")
        if not any(f"{name}(" in source for name in MESSAGES):
            continue
        for node in ast.walk(ast.parse(source)):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                forms = [str(one.value) for one in node.args[: MESSAGES.get(node.func.id, 0)] if isinstance(one, ast.Constant)]
                if forms:
                    yield forms[0] if len(forms) == 1 else tuple(forms)


def _of_problems() -> Iterator[str]:
    for path in sorted((ROOT / "resources" / "problems").glob("*.toml")):
        yield from read_entry(path.read_bytes()).messages()


def _of_questions() -> Iterator[str]:
    for question in read_questions((ROOT / "resources" / "questions.toml").read_bytes()):
        yield from question.messages()


def _of_verifications() -> Iterator[str]:
    for name in ("containers.toml", "verification.toml"):
        for entry in entries_in((ROOT / "resources" / name).read_bytes()).values():
            yield from entry.messages()


def _of_knowledge() -> Iterator[str]:
    for name, fields in SENTENCES.items():
        for record in json.loads((ROOT / "resources" / "knowledge" / f"{name}.json").read_bytes()):
            yield from (sentence(record[field]).message for field in fields if record.get(field))


def _of_examples() -> Iterator[str]:
    """What each is called, and why something is not known there: the reasons of the version that recorded it."""
    for path in sorted((ROOT / "resources" / "machines").glob("*.json")):
        example = json.loads(path.read_bytes())
        yield sentence(example["note"]).message
        yield from (sentence(reason).message for reason in _reasons(example))


def _reasons(recorded: object) -> Iterator[str]:
    if isinstance(recorded, dict):
        if isinstance(recorded.get("reason"), str):
            yield recorded["reason"]
        recorded = list(recorded.values())
    for part in recorded if isinstance(recorded, list) else ():
        yield from _reasons(part)


def _of_terms() -> Iterator[str]:
    for term in read_terms((ROOT / "resources" / "terms.json").read_bytes()):
        yield from (sentence(one).message for one in term.messages())


def _write(path: Path, catalogue: Catalog) -> None:
    # In one order and on one line each, so that a change of one message is a change of its lines alone.
    with path.open("wb") as file:
        write_po(file, catalogue, width=0, sort_output=True, no_location=True, ignore_obsolete=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
