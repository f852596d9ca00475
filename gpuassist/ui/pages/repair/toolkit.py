"""The toolkit that new shells, or one scope alone, use: chosen, planned, made, proved by shells and by a kernel for each GPU."""

from __future__ import annotations

from msgspec.structs import replace
from PySide6.QtCore import Slot
from PySide6.QtWidgets import QWidget

from gpuassist.changes.kernels import KernelProof, prove_kernels
from gpuassist.changes.plan import ChangeOutcome
from gpuassist.changes.wishes import ChangeWish, LdLibraryPath, UseCuda
from gpuassist.model.fact import Known
from gpuassist.model.text import Text, text
from gpuassist.present.marks import Mark
from gpuassist.present.toolkit_change import offers
from gpuassist.session.navigation import TITLES, ToExplainText, WizardStep
from gpuassist.shellfiles.lines import LineChoice
from gpuassist.ui.jobs import Done, Failed, Job
from gpuassist.ui.page import Desk
from gpuassist.ui.pages.repair.panel import PlanPanel
from gpuassist.ui.pages.repair.plan import ToolkitCard, meant
from gpuassist.ui.pages.repair.scope import ScopedSection
from gpuassist.ui.wording import reason_of


class ToolkitSection(ScopedSection):
    """Without a version it says that nothing needs repair, and offers what is installed."""

    LIVE_ONLY = False

    def __init__(self, desk: Desk, parent: QWidget | None = None) -> None:
        self.toolkit_card: ToolkitCard = ToolkitCard(desk.words, desk.session.world.surroundings.home)
        super().__init__(desk, self.toolkit_card, parent)
        self.cuda = UseCuda("")
        self._troubled = False
        self._own_choice = False  # whether the user chose the toolkit, and not a finding
        self._kernels: Job | None = None
        self.toolkit_card.toolkit_chosen.connect(self.choose_toolkit)
        self.toolkit_card.lines_chosen.connect(self.choose_lines)
        self.toolkit_card.loader_chosen.connect(self.choose_loader)

    def furnish(self, panel: PlanPanel) -> None:
        panel.kernels.explain_wanted.connect(self._explain)
        panel.kernels.cancel_wanted.connect(self._cancel)

    @property
    def busy(self) -> bool:
        return super().busy or self._kernels is not None

    def suggest(self, version: str, *, troubled: bool = False) -> None:
        """What a finding says that new shells should use, empty for none; what the user chose stays, and so does a result.
        `troubled` where a problem stands, about this or about something else.
        """
        self._troubled = troubled
        if self.settled:
            self.toolkit_card.show_offers(offers(self.machine), self.cuda.version)
        elif not (self._own_choice and any(meant(offer, self.cuda.version) for offer in offers(self.machine))):
            self._plan_for(version)
        else:
            self._plan_for(self.cuda.version)

    def open_for(self, version: str) -> None:
        """Plans for this CUDA version, because somebody asked for it."""
        if not self.changing.busy:
            self._own_choice = True
            self._plan_for(version)

    def forget_choice(self) -> None:
        """Another machine: what was chosen was for the one before."""
        self._own_choice = False

    def _plan_for(self, version: str) -> None:
        self.cuda = UseCuda(version)
        self.toolkit_card.show_offers(offers(self.machine), version)
        self.start()

    def wish(self) -> ChangeWish | None:
        return replace(self.cuda, scope=self.scope) if self.cuda.version else None

    def scope_changed(self) -> None:
        self.cuda = replace(self.cuda, lines=None)
        self.start()

    @Slot(object)
    def choose_toolkit(self, version: str) -> None:
        self.open_for(version)

    @Slot(object)
    def choose_lines(self, lines: tuple[LineChoice, ...]) -> None:
        self.cuda = replace(self.cuda, lines=lines)
        self.ask_for_plan()

    @Slot(object)
    def choose_loader(self, choice: LdLibraryPath) -> None:
        self.cuda = replace(self.cuda, ld_library_path=choice)
        self.ask_for_plan()

    def show_nothing(self) -> None:
        words = self.desk.words
        self.header = (
            words(text("Toolkit: nothing to repair")),
            words(text("No toolkit problem was found.")),
        )
        rest: Text = text("No CUDA toolkit is installed that new terminals could use.")
        if offers(self.machine):
            rest = text("To switch toolkits anyway, choose one here.")
        mark = Mark.RIGHT
        if self._troubled:  # a green tick would speak of all of the machine
            mark = Mark.INFO
            rest = text("{first} What was found is not about toolkits: see {page}.", first=rest, page=TITLES[WizardStep.FOUND])
        self.say_instead(mark, text("Nothing to repair in the start-up files"), rest)

    def after_made(self, carried: ChangeOutcome) -> None:
        proof = carried.proof
        if proof is None or proof.winner is None or not (isinstance(proof.holds, Known) and proof.holds.value):
            return
        session, machine, nvcc, terminal = self.desk.session, self.machine, proof.winner.path, proof.terminal
        self.panel.kernels.begin()
        self._kernels = self.desk.jobs.start(
            lambda control: prove_kernels(
                session, machine, nvcc, terminal, on_progress=control.tell, cancelled=control.cancelled.is_set
            ),
            self,
        )
        self._kernels.told.connect(self._show_doing)
        self._kernels.finished.connect(self._show_kernels)

    def close_down(self) -> None:
        super().close_down()
        self._drop_kernels()

    def forget_result(self) -> None:
        self._drop_kernels()
        super().forget_result()

    def _drop_kernels(self) -> None:
        if self._kernels is not None:
            self._kernels.finished.disconnect(self._show_kernels)
            self._kernels.told.disconnect(self._show_doing)
            self._kernels.cancel()
            self._kernels = None

    @Slot(object)
    def _show_doing(self, doing: Text) -> None:
        self.panel.kernels.say(doing)

    @Slot(object)
    def _show_kernels(self, result: Done | Failed) -> None:
        self._kernels = None
        if isinstance(result, Failed):
            self.panel.kernels.show_trouble(reason_of(self.desk.words, result.error))
            return
        proofs = result.value if isinstance(result.value, tuple) else ()
        self.panel.kernels.show_proofs(proofs)
        failed = any(isinstance(proof, KernelProof) and not proof.check.passed for proof in proofs)
        if failed:
            self.tell(
                Mark.PROBLEM, self.desk.words(text("New terminals find it, but a kernel does not compile or run: see below."))
            )
            self.show_mark(Mark.PROBLEM)
        self.card.mark_kernels(Mark.UNKNOWN if not proofs else Mark.PROBLEM if failed else Mark.RIGHT)

    @Slot()
    def _cancel(self) -> None:
        if self._kernels is not None:
            self._kernels.cancel()

    @Slot(str)
    def _explain(self, said: str) -> None:
        self.asked.emit(ToExplainText(said))
