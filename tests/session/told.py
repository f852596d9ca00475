"""What gpuassist says of a recorded machine, short enough to compare: ids, evidence, commands, and what is fine or open."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from gpuassist.context import Session
from gpuassist.model.chain import Chain, Status
from gpuassist.model.finding import Answer
from gpuassist.model.words import ENGLISH
from gpuassist.present.summary import found_title
from gpuassist.session.inspect import Inspection, open_recording
from gpuassist.system.files import Files
from gpuassist.system.surroundings import Surroundings
from gpuassist.system.world import World
from tests.values import knowledge


def told_of(path: Path) -> dict[str, Any]:
    """The findings of the machine in a file."""
    session = Session(World(Surroundings("/home/you", "you", 1000), Files()), knowledge(), ENGLISH)
    return told(open_recording(session, str(path)))


def told(inspection: Inspection) -> dict[str, Any]:
    """An inspection without its longer sentences."""
    diagnosis = inspection.diagnosis
    return {
        "title": ENGLISH(found_title(inspection.machine, diagnosis, inspection.answers)),
        "findings": [_finding(answer) for answer in inspection.answers],
        "undetermined": [f"{one.problem}: {ENGLISH(one.fact)}: {ENGLISH(one.reason)}" for one in diagnosis.undetermined],
        "passed": [ENGLISH(one.check) for one in diagnosis.passed],
        "chains": [_chain(chain) for chain in inspection.chains],
    }


def _finding(answer: Answer) -> dict[str, Any]:
    return {
        "id": answer.id,
        "severity": answer.severity.value,
        "title": answer.title,
        "evidence": [f"{ENGLISH(one.fact)}: {ENGLISH(one.value)} [{one.source}]" for one in answer.evidence],
        "remedies": [
            {"action": remedy.action.value, "commands": [line for use in remedy.commands for line in use.lines]}
            for remedy in answer.remedies
        ],
    }


def _chain(chain: Chain) -> dict[str, Any]:
    wrong = [joint for joint in chain.joints if joint.status in {Status.WARNING, Status.PROBLEM}]
    return {
        "nodes": [f"{ENGLISH(node.name)}: {node.status.value}" for node in chain.nodes],
        "wrong": [f"{joint.first.value} - {joint.second.value}: {ENGLISH(joint.reason)}" for joint in wrong],
    }
