"""Makes as a part of the build what git does not hold, because it follows from what is edited: the translations, compiled from
`resources/words/<language>.po`, and in a wheel what lies below `share/`, made by `packaging/make_share.py` from the parser itself.

An editable install runs it as well, so a checkout has each compiled file beside its source. babel is needed here alone: at run time
the standard library's gettext reads what it wrote.
"""

from __future__ import annotations

import atexit
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from babel import Locale
from babel.core import get_global
from babel.messages.catalog import Message
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po
from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class CompileWords(BuildHookInterface):  # type: ignore[type-arg]  # of whatever configuration its builder has
    """Runs before a wheel or an editable install is put together."""

    def initialize(self, version: str, build_data: dict[str, object]) -> None:
        """Compiles every translation in the source tree; a wheel takes all of `resources`."""
        for source in sorted(Path(self.root, "resources", "words").glob("*.po")):
            compile_words(source)
        maker = Path(self.root, "packaging", "make_share.py")
        if version != "editable" and maker.exists():
            # Below share/ of wherever the wheel is installed to: pipx links pages of the manual and completions from there.
            made = tempfile.mkdtemp()
            atexit.register(shutil.rmtree, made, ignore_errors=True)
            subprocess.run([sys.executable, str(maker), made], check=True, stdout=subprocess.DEVNULL)
            build_data["shared_data"] = {made: "share"}


def compile_words(source: Path) -> None:
    """Writes the `.mo` beside a `.po`: its translations, how many of all messages that is, which decides on their use, and
    what the language calls itself.
    """
    with source.open("rb") as file:
        catalogue = read_po(file, locale=source.stem)
    messages = [one for one in catalogue if one.id]
    count = f"{sum(map(is_translated, messages))}/{len(messages)}"
    for name, value in (("translated", count), ("name", own_name(source.stem))):
        catalogue.add(name, value, context="catalogue")  # babel writes no header of ours
    # Replaced at once: tests that run side by side may build, and read what another one builds.
    with tempfile.NamedTemporaryFile(dir=source.parent, delete=False) as written:
        write_mo(written, catalogue)
    os.chmod(written.name, 0o644)
    os.replace(written.name, source.with_suffix(".mo"))


def own_name(language: str) -> str:
    """What its speakers call a language, with its script where it is written in several: 简体中文, Polski."""
    locale = Locale.parse(language)
    likely = get_global("likely_subtags")
    script = locale.script or Locale.parse(likely.get(language) or likely.get(locale.language, language)).script
    names = (f"{locale.language}_{locale.territory}", f"{locale.language}_{script}", locale.language)
    name = next((locale.languages[one] for one in names if one in locale.languages), language)
    return name[:1].upper() + name[1:]


def is_translated(message: Message) -> bool:
    """Whether every form of it is, and no machine guessed it."""
    strings = message.string if isinstance(message.string, (tuple, list)) else (message.string,)
    return bool(strings) and all(strings) and not message.fuzzy
