"""What stands where nothing was verified, and the one obvious way on: what mends the first failure that is known, or a torch that
can use the GPU.
"""

from __future__ import annotations

from msgspec import Struct

from gpuassist.model.finding import Answer
from gpuassist.model.machine import Machine
from gpuassist.model.text import Text, text
from gpuassist.model.verdict import Verdict, Verification
from gpuassist.present.commands import command_lines
from gpuassist.present.elsewhere import cannot_compute
from gpuassist.present.marks import Mark
from gpuassist.session.failed_checks import words_of
from gpuassist.session.navigation import Destination, ToHolders, ToInstall
from gpuassist.session.plan import ANY, InstallWish
from gpuassist.session.verify import built_for_gpus
from gpuassist.ui.leads import mends

_WORSE = frozenset({Verdict.FAIL, Verdict.HUNG})


class NextStep(Struct, frozen=True):
    """A button's words, and what it does: leads to a `destination`, or shows the `answer` and copies its first `lines`."""

    title: Text
    destination: Destination | None = None
    answer: Answer | None = None
    lines: tuple[str, ...] = ()


class BeforeRun(Struct, frozen=True):
    """What a page without a run says."""

    mark: Mark
    title: Text
    words: Text
    next: NextStep | None = None


_TO_INSTALL = ToInstall(InstallWish(torch=ANY))


def before_a_run(*, recorded: bool, lacking: bool, changed: bool, troubled: bool = False, host: str = "") -> BeforeRun:
    """On a recorded machine, or one over SSH (`host`); on one without a torch (`lacking`); after a result that does not hold any
    more (`changed`). Where a problem stands (`troubled`) a torch that is lacking is not what leads on.
    """
    if recorded:
        title, why = cannot_compute(host)
        return BeforeRun(Mark.INFO, title, why)
    if lacking:
        what = text("Choose a Python interpreter, an image or a container that has torch; or plan an installation.")
        lead = NextStep(text("Plan an installation…"), _TO_INSTALL)
        return BeforeRun(Mark.INFO, text("No environment with torch was found"), what, None if troubled else lead)
    if changed:
        what = text("The environment, the driver, a GPU or the variables of new terminals changed since the last run.")
        return BeforeRun(Mark.TODO, text("Not verified since the machine changed"), what)
    what = text("Matrix products, convolution, a backward pass and more run on each device; every element is checked.")
    return BeforeRun(Mark.TODO, text("Not verified yet"), what)


def next_step(result: Verification, machine: Machine) -> NextStep | None:
    """None where there is nothing to mend, or nothing is known of what failed."""
    if result.unverified is not None and not built_for_gpus(result) and not result.image:
        return NextStep(text("Plan a torch for this GPU…"), _TO_INSTALL)
    worse = [check for device in result.devices for check in device.checks if check.verdict in _WORSE]
    if worse:  # what mends some error besides would not mend that
        answer = next(filter(None, (result.answer_to(words_of(check)) for check in worse)), None)
    else:
        answer = result.explained[0].answer if result.explained else None
    if answer is None:
        held = not worse and any(check.held_by_others for device in result.devices for check in device.checks)
        return NextStep(text("Show GPU processes"), ToHolders()) if held else None
    way = mends((answer,), machine) if not result.image else None  # pages mend this machine, not what is in an image
    if way is not None and way.destination is not None:
        return NextStep(way.title, way.destination)
    if not answer.remedies:
        return None
    lines = tuple(command_lines(answer.remedies[0]))
    return NextStep(text("Copy the commands") if lines else text("What to do"), answer=answer, lines=lines)
