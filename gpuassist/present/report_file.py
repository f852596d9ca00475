"""A report as a file, in one of its formats."""

from __future__ import annotations

import json
import os
from enum import Enum

from gpuassist.formats.visible import escaped
from gpuassist.model.text import Text, text
from gpuassist.model.words import ENGLISH, Words
from gpuassist.present.report_document import report_document
from gpuassist.present.report_markdown import report_markdown
from gpuassist.present.report_page import report_page
from gpuassist.session.report import MachineReport
from gpuassist.system.new_file import new_file

_PRIVATE = 0o600


class ReportFormat(str, Enum):
    """What a report is written as; the value is also its file's ending."""

    MARKDOWN = "md"
    HTML = "html"
    JSON = "json"


class NotSavedError(Exception):
    """A report or a picture could not be written; `reason` says why, and nothing of it is left."""

    def __init__(self, reason: Text) -> None:
        super().__init__(reason)
        self.reason = reason


def format_of(path: str) -> ReportFormat | None:
    """The one that a file's ending says; None of any other ending."""
    ending = os.path.splitext(path)[1].lower()
    known = {".md": ReportFormat.MARKDOWN, ".markdown": ReportFormat.MARKDOWN, ".htm": ReportFormat.HTML}
    return known.get(ending) or next((one for one in ReportFormat if ending == f".{one.value}"), None)


def report_content(report: MachineReport, form: ReportFormat, words: Words) -> str:
    """The whole file. A document is English in every language, as those of all commands are where no language is named."""
    if form is ReportFormat.MARKDOWN:
        return report_markdown(report, words)
    if form is ReportFormat.HTML:
        return report_page(report, words)
    return escaped(json.dumps(report_document(report, ENGLISH), ensure_ascii=False, indent=2)) + "\n"


def why_not_saved(path: str, *, force: bool) -> Text | None:
    """What speaks against writing there, as far as it can be told before."""
    if not path:
        return text("--out needs the name of a file, and got an empty one")
    if os.path.isdir(path):
        return text("{path} is a directory: name a file in it", path=path)
    if os.path.lexists(path) and not force:
        return text("{path} is there already: name another file, or write over it with --force", path=path)
    directory = os.path.dirname(path) or "."
    if not os.path.isdir(directory):
        return text("{path} could not be written: there is no directory {directory}", path=path, directory=directory)
    return None


def save(path: str, content: bytes, *, force: bool) -> None:
    """Writes a file that its user alone may read; raises `NotSavedError`, also where one is there and `force` does not say so."""
    why_not = why_not_saved(path, force=force)
    if why_not is not None:
        raise NotSavedError(why_not)
    try:
        with new_file(path, mode=_PRIVATE, replaces=force) as file:
            file.write(content)
    except FileExistsError as error:
        raise NotSavedError(text("{path} is there already: name another file, or write over it with --force", path=path)) from error
    except (OSError, ValueError) as error:  # a name with a null character
        words = (error.strerror if isinstance(error, OSError) else "") or str(error)
        raise NotSavedError(text("{path} could not be written: {words}", path=path, words=words)) from error
