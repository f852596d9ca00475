"""The language of the window: the one that was chosen there, else the desktop's; and what to say where no font can write it."""

from __future__ import annotations

from msgspec.structs import replace

from gpuassist.context import Session, english_name, languages, own_name, words_for
from gpuassist.model.text import Text, text
from gpuassist.model.words import ENGLISH, language_of


def session_in(session: Session, language: str) -> Session:
    """This session in a language; in the desktop's where none is named, or one that is gone."""
    resources = session.world.resources
    known = languages(resources)
    wanted = language if language in known else language_of(session.world.surroundings.variables, known)
    return replace(session, words=words_for(wanted, resources))


def in_english(session: Session, reason: Text) -> Session:
    """This session in English, which says why."""
    return replace(session, words=replace(ENGLISH, notice=reason))


def no_font(session: Session) -> Text:
    """That no font here has the letters of the session's language, with the command line that installs one on this distribution."""
    command, language = _font_command(session), english_name(session.words)
    if not command:
        return text("No font on this machine has the letters of {language}, so this is in English.", language=language)
    return text(
        "No font on this machine has the letters of {language}, so this is in English. This installs one: {command}",
        language=language,
        command=command,
    )


def in_letters_of_the_console(session: Session) -> Session:
    """This session in words that the Linux console can show: its fonts hold 512 letters, and none of them is wide (setfont(8))."""
    from unicodedata import east_asian_width  # only a console asks

    if not any(east_asian_width(letter) in {"W", "F"} for letter in own_name(session.words)):
        return session
    reason = text(
        "The Linux console has no letters for {language}, so this is in English; `--lang {code}` writes it all the same.",
        language=english_name(session.words),
        code=session.words.language,
    )
    return in_english(session, reason)


def _font_command(session: Session) -> str:
    from gpuassist.detect.host import distribution  # where no font is missing nobody asks
    from gpuassist.knowledge.families import is_image, lookup_order
    from gpuassist.model.fact import Known

    key = f"font-install-{session.words.language.partition('_')[0]}"
    found = distribution(session.world.files)
    commands = session.knowledge.commands
    if key not in commands.keys or not isinstance(found, Known) or is_image(found.value):
        return ""
    return " ".join(commands.render(key, lookup_order(found.value), {}))
