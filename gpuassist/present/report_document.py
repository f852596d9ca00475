"""A report as JSON: a recorded machine, which `--machine` opens, and beside it what was found on it."""

from __future__ import annotations

from gpuassist.model.codec import Json
from gpuassist.model.machine import encode_machine
from gpuassist.model.words import Words
from gpuassist.present.answer_document import finding_document, undetermined_document
from gpuassist.present.chain import status_words
from gpuassist.present.past import change_document
from gpuassist.session.harmless.stand_ins import TakenOut
from gpuassist.session.report import ChangesTold, MachineReport
from gpuassist.session.verification_summary import DeviceFigures, VerificationFigures


def report_document(report: MachineReport, words: Words) -> dict[str, Json]:
    """The document that `report --json` prints."""
    told: dict[str, Json] = {
        "made_at": report.made_at,
        "made_by": f"gpuassist {report.version}",
        "findings": [finding_document(one, words) for one in report.inspection.answers],
        "undetermined": undetermined_document(report.inspection.diagnosis.undetermined, words),
        "passed": list(dict.fromkeys(words(one.check) for one in report.inspection.diagnosis.passed)),
        "chains": [_chain(report, place, words) for place in range(len(report.inspection.chains))],
        "changed": _changed(report.changed, words) if report.changed is not None else None,
        "verification": verification_figures(report.verification) if report.verification is not None else None,
        "taken_out": [taken_document(one) for one in report.taken_out],
        "differing": list(report.differing),
    }
    return {**encode_machine(report.inspection.machine, words), "report": told}


def taken_document(one: TakenOut) -> Json:
    return {"kind": one.kind.value, "count": one.count, "stand_in": one.stand_in}


def verification_figures(figures: VerificationFigures) -> Json:
    """A verification in figures; what is not known is null."""
    return {
        "made_at": figures.made_at or None,
        "level": figures.level or None,
        "outcome": figures.outcome.value,
        "driver": figures.driver or None,
        "torch": figures.torch or None,
        "cuda": figures.cuda or None,
        "python": figures.python or None,
        "devices": [_device(one) for one in figures.devices],
        "other_failures": figures.other_bad,
    }


def _device(one: DeviceFigures) -> Json:
    return {
        "name": one.name or None,
        "cpu": one.is_cpu,
        "verdict": one.verdict.value,
        "passed": one.passed,
        "failed": one.bad,
        "skipped": one.skipped,
        "not_run_for_lack_of_time": one.late,
        "held_by_others": one.held,
        "least_share": one.least or None,
        "best_share": one.best or None,
        "rates": one.rates,
    }


def _chain(report: MachineReport, place: int, words: Words) -> Json:
    chain = report.inspection.chains[place]
    return {
        "parts": [
            {"part": one.part.value, "name": words(one.name), "detail": words(one.detail), "status": one.status.value}
            for one in chain.nodes
        ],
        "pairs": [
            {
                "first": one.first.value,
                "second": one.second.value,
                "status": one.status.value,
                "reason": words(one.reason) or words(status_words(one.status)),
            }
            for one in chain.joints
        ],
    }


def _changed(told: ChangesTold, words: Words) -> Json:
    return {
        "since": told.since or None,
        "kept": told.kept,
        "unchanged_since": told.unchanged_since or None,
        "changes": [change_document(one, words) for one in told.changes],
        "notes": [words(one) for one in told.notes],
    }
