"""The table of start-up files as one JSON document for programs."""

from __future__ import annotations

from gpuassist.detect.startup.survey import Survey
from gpuassist.model.codec import Json
from gpuassist.model.fact import Known, value_or
from gpuassist.model.words import Words
from gpuassist.shellfiles.statements import printable


def survey_document(survey: Survey, words: Words) -> dict[str, Json]:
    """Everything that the table shows; what is not known is null beside its reason."""
    seconds = survey.seconds
    return {
        "schema": 1,
        "shell": survey.shell,
        "lines": [
            {
                "file": printable(line.file),
                "line": line.line,
                "last_line": line.last_line,
                "text": line.text,
                "variables": list(line.variables),
                "contributions": [
                    {"variable": one.variable, "effect": one.effect, "elements": list(one.elements)} for one in line.contributions
                ],
                "inside": line.inside,
                "owner": line.owner,
                "in_effect": value_or(line.in_effect, None),
                "effect": words(line.effect),
                "wins": list(line.wins),
                "changeable": line.changeable,
                "why": words(line.why),
                "read_by": line.read_by,
            }
            for line in survey.lines
        ],
        "notes": [words(note) for note in survey.notes],
        "unread": [{"file": printable(one.path), "reason": words(one.reason)} for one in survey.unread],
        "seconds": value_or(seconds, None),
        "seconds_reason": None if isinstance(seconds, Known) else words(seconds.reason),
    }
