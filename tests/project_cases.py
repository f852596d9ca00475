"""Little projects with the machine that they are meant for and what a good engineer would answer: `tests/cases/projects`."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

from gpuassist.context import Session
from gpuassist.diagnose.project.sets import Project, read_project
from gpuassist.model.project import ProjectOutlook
from gpuassist.session.project import judge_project
from tests.cli.made_session import live_session
from tests.plans import machine_of

CASES = Path(__file__).parent / "cases" / "projects" / "projects.json"
DIRECTORY = "/home/you/project"


def cases() -> list[dict[str, Any]]:
    return [dict(one) for one in json.loads(CASES.read_text("utf-8"))]


def files_of(case: dict[str, Any]) -> dict[str, bytes]:
    """Its files; bytes that are no text stand as hexadecimal digits, and what is long as a piece with how often it stands there."""
    return {name: words.encode() if isinstance(words, str) else _made(words) for name, words in case["files"].items()}


def _made(words: dict[str, Any]) -> bytes:
    if "hex" in words:
        return bytes.fromhex(words["hex"])
    return (str(words["before"]) + str(words["of"]) * int(words["times"])).encode()


def project_of(case: dict[str, Any]) -> Project:
    return read_project(files_of(case))


def judged(case: dict[str, Any]) -> ProjectOutlook:
    """The answer for a case, found once."""
    if case["name"] not in _ANSWERS:
        _ANSWERS[case["name"]] = judge_project(_session(), machine_of(case), DIRECTORY, project_of(case))
    return _ANSWERS[case["name"]]


@cache
def _session() -> Session:
    return live_session({})


_ANSWERS: dict[str, ProjectOutlook] = {}
