"""The stops of the walk that stand over a page or in its place: each dialog, made anew for each size of the window."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from PySide6.QtWidgets import QWidget

from gpuassist.changes.apply import FileChange, apply
from gpuassist.changes.undo_all import UndoneChange, undo_all
from gpuassist.context import Session
from gpuassist.model.machine import encode_machine
from gpuassist.model.text import text
from gpuassist.model.words import ENGLISH
from gpuassist.monitor.prometheus_source import FleetHost
from gpuassist.session.inspect import open_example
from gpuassist.session.prometheus import ServerWish
from gpuassist.session.terms import glossary
from gpuassist.session.traces import look_again, look_at_traces
from gpuassist.shellfiles.edit import LineChanges, write
from gpuassist.ui.fault_page import FaultPage
from gpuassist.ui.jobs import Done
from gpuassist.ui.page import Desk
from gpuassist.ui.pages.live.server_dialog import ServerDialog
from gpuassist.ui.pages.repair.undo_all_dialog import UndoAllDialog
from gpuassist.ui.questions import Verbs
from gpuassist.ui.report_dialog import ReportDialog
from gpuassist.ui.widgets.everything import Everything
from gpuassist.ui.widgets.help import PROMISES, Help
from gpuassist.ui.widgets.question import QuestionDialog
from gpuassist.ui.widgets.term_panel import TermPanel
from tests.changes.crashing import quiet_world
from tests.changes.homes import edit_of
from tests.shellfiles.written import block_lines
from tests.values import knowledge

_EXAMPLE = "02-rtx-4090-cuda-11-7-first"
_TRACE = "Traceback (most recent call last):\n  …\nFileNotFoundError: [Errno 2] No such file or directory: '/a/rather/long/place'"
_LINES = ("sudo apt-get update", "sudo apt-get install --yes nvidia-driver-580-open linux-headers-generic build-essential")

Make = Callable[[QWidget], QWidget]


def dialogs(desk: Desk, home: Path) -> dict[str, Make]:
    """What opens each of them over a window, by name; changes are made and undone in that home."""
    session, words, known = desk.session, desk.words, glossary(desk.session)
    inspection = open_example(session, _EXAMPLE)
    document = encode_machine(inspection.machine, ENGLISH)
    asked = words(text("Undo this change?"))
    told = words(PROMISES[1])
    verbs = Verbs(words(text("Undo")), words(text("Keep")), loses=True)
    runs = Verbs(words(text("Run it")), words(text("Cancel")))
    wish = ServerWish("http://prometheus.example:9090", ("node-017.cluster.research.example.com",), "/run/secrets/a-token")

    def answered(parent: QWidget) -> ServerDialog:
        dialog = ServerDialog(desk, wish, parent)
        dialog._answered(Done(tuple(FleetHost(f"node-0{place}.cluster.research.example.com", 8) for place in (16, 17))))
        return dialog

    undo = _undo_dialogs(Session(quiet_world(home), knowledge(), session.words), desk)
    return {
        "help": lambda parent: Help(words, parent),
        "everything": lambda parent: Everything(words, document, desk.asking, parent),
        "terms": lambda parent: TermPanel(known.terms[:20], known, words, parent),
        "no-terms": lambda parent: TermPanel((), known, words, parent),
        "question": lambda parent: QuestionDialog(asked, (told, told), verbs, parent),
        "commands": lambda parent: QuestionDialog(asked, (told,), runs, parent, lines=_LINES),
        "report": lambda parent: ReportDialog(desk, inspection, parent),
        "fault": lambda parent: FaultPage(
            words, _TRACE, f"{home}/.local/state/gpuassist/gpuassist.log", can_go_on=True, parent=parent
        ),
        "server": lambda parent: ServerDialog(desk, ServerWish(), parent),
        "server-answered": answered,
        **undo,
    }


def _undo_dialogs(session: Session, desk: Desk) -> dict[str, Make]:
    """Two changes, the older of a file that was edited since; and what came of taking them back."""
    world, home = session.world, Path(session.world.surroundings.home)
    home.mkdir(exist_ok=True)
    (home / ".bashrc").write_bytes(b"# mine\n")
    after = write(b"# mine\n", block_lines("/usr/local/cuda-12.4"), LineChanges(()), "c0")
    apply(world, FileChange("c0", "use cuda 12.4", (edit_of(home / ".bashrc", after),)))
    (home / ".env").write_bytes(b"A=1\n")
    apply(world, FileChange("c1", "use devices 0", (edit_of(home / ".env", b"A=gpu\n", dialect="env"),)))
    (home / ".env").write_bytes(b"A=mine\n")
    traces, done = look_at_traces(session), list[UndoneChange]()
    outcome = undo_all(world, traces.plan, cancelled=lambda: False, on_done=done.append)
    state = look_again(session, traces).state

    def planned(parent: QWidget) -> UndoAllDialog:
        return UndoAllDialog(desk.words, traces, parent, home=str(home))

    def ended(parent: QWidget) -> UndoAllDialog:
        dialog = planned(parent)
        for one in done:
            dialog.show_done(one)
        dialog.show_outcome(outcome, state)
        return dialog

    return {"undo-all": planned, "undo-all-done": ended}
