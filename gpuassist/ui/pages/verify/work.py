"""What the page does off its thread: a run, kept for later ones and compared with those before it."""

from __future__ import annotations

from msgspec import Struct

from gpuassist.context import Session
from gpuassist.model.machine import Machine
from gpuassist.model.words import ENGLISH
from gpuassist.present.verification_document import verification_document
from gpuassist.session.verification_differences import Difference
from gpuassist.session.verifications import KeptVerification, kept
from gpuassist.session.verify import VerifyRequest
from gpuassist.session.verify_report import VerifyReport, keep_machine, remember, verify_whole
from gpuassist.ui.jobs import Control


class Ran(Struct, frozen=True):
    """What a run came to, the verifications before it, and what is otherwise than in them."""

    report: VerifyReport
    before: tuple[KeptVerification, ...]
    differences: tuple[Difference, ...] = ()


def ran(session: Session, request: VerifyRequest, machine: Machine, control: Control) -> Ran:
    """Runs it; one that was stopped is not kept, since it says nothing of what it did not come to."""
    told, wanted = control.tell, control.cancelled.is_set
    report = verify_whole(session, request, on_event=told, cancelled=wanted, on_toolkit=told)
    before = kept(session.world)
    if report.verification.cancelled:
        return Ran(report, before)
    if not request.launcher:
        keep_machine(session, (report,), machine)
    return Ran(report, before, remember(session, verification_document([report], ENGLISH), machine, request.level))
