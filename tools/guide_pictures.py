"""Takes the pictures of README and docs/guide: the real window, light and dark, with recorded machines and a scripted NVML.

    python tools/guide_pictures.py [FOLDER] [--only KIND] [--size 1120x820]

Needs Xvfb. `recorded` shows machines that ship with gpuassist, `furnished` a made-up home with start-up files and two toolkits,
`verified` a verification on this machine's CPU in .venv-torch (`make test` makes it), `running` two scripted GPUs, for which it
needs gcc. `traced` shows what torch's profiler says of a real training on the CPU, `made` a made-up memory snapshot, an estimate
and terms, `served` a scripted Prometheus, `another` a machine over SSH that is a recording.
What cannot be taken is named, and the others are.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tools.guide_scenes import another, another_of, made, served, trace, traced
from tools.kept_pictures import Shots, keep, save_small
from tools.repair_states import VERSION, furnish, private
from tools.screenshots import OUT_OF_MEMORY, SETTLED_MILLISECONDS, display, step_through

if TYPE_CHECKING:
    from gpuassist.ui.application import WindowRun
    from gpuassist.ui.pages.repair.page import RepairPage

ROOT = Path(__file__).resolve().parents[1]
PICTURES = ROOT / "docs" / "guide" / "pictures"
LANGUAGE = "en"
NVCC = "nvcc fatal   : Unsupported gpu architecture 'compute_89'"
NEW, OLD_NVCC, CPU_TORCH = "01-new-rtx-5090-nouveau", "02-rtx-4090-cuda-11-7-first", "03-torch-cpu-only"
LIVE_SECONDS, VERIFY_SECONDS = 75, 200
SCENARIO = """driver = 580.95.05
[gpu]
used = 14400..17600/19
utilization = 97
temperature = 71
power = 412
process = {train} c 13400
process = {desktop} g 310
[gpu]
pci = 00000000:02:00.0
uuid = GPU-4090bbbb-0000-4000-8000-000000000001
used = 3900..4300/40
utilization = 12
temperature = 44
power = 68
process = {notebook} c 3200 from=25
"""
PROJECT = {
    "requirements.txt": "torch==2.11.0\nnumpy\n",
    "train.py": "import torch\n\ntorch.zeros(8, device='cuda')\n",
}


def main() -> int:
    """Starts a process for each kind of machine, so that each has a home and an NVML of its own."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", type=Path, default=PICTURES)
    parser.add_argument("--only", choices=tuple(KINDS))
    parser.add_argument("--size", default="1120x820")
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        return _take(options)
    options.folder.mkdir(parents=True, exist_ok=True)
    return max(_start(kind, options) for kind in ([options.only] if options.only else KINDS))


def _start(kind: str, options: argparse.Namespace) -> int:
    needed = MISSING_WITHOUT.get(kind)
    if needed is not None and not needed[0]():
        print(f"NOT TAKEN: {kind}; {needed[1]}", file=sys.stderr)
        return 1
    with display() as screen, tempfile.TemporaryDirectory(prefix="you-") as scratch, ExitStack() as stack:
        environment = {**os.environ, **private(scratch), "DISPLAY": screen, "QT_QPA_PLATFORM": "xcb"}
        if kind == "furnished":
            _furnish_to_succeed(Path(scratch))
        if kind == "running":
            environment |= stack.enter_context(_scripted_gpus(Path(stack.enter_context(tempfile.TemporaryDirectory()))))
        if kind == "traced":
            trace(Path(scratch))
        if kind == "verified":
            environment["VIRTUAL_ENV"] = str(ROOT / ".venv-torch")
        command = [sys.executable, __file__, str(options.folder.resolve()), "--only", kind, "--size", options.size, "--child"]
        status = subprocess.run(command, env=environment, cwd=ROOT, check=False).returncode
        if kind == "verified" and status == 0:
            card = [sys.executable, "-m", "gpuassist", "report", "--force", "--card", str(options.folder.resolve() / "card.png")]
            subprocess.run(card, env=environment, cwd=ROOT, check=False)
            _make_small(options.folder / "card.png")
        return status


def _make_small(path: Path) -> None:
    from PySide6.QtGui import QImage

    path.chmod(0o644)  # the report's own are for their user alone
    save_small(QImage(str(path)), path)


def _furnish_to_succeed(home: Path) -> None:
    furnish(home)
    nvcc = home / f"cuda-{VERSION}" / "bin" / "nvcc"
    nvcc.write_text((home / "cuda-11.7" / "bin" / "nvcc").read_text().replace("11.7", VERSION))  # one that compiles


@contextmanager
def _scripted_gpus(scratch: Path) -> Iterator[dict[str, str]]:
    """The variables that make a child load the scripted NVML, whose processes live as long."""
    from benchmarks.nvml import variables

    workers = {name: _worker(scratch, name) for name in ("train", "notebook", "desktop")}
    try:
        yield variables(scratch, SCENARIO.format(**{name: worker.pid for name, worker in workers.items()}))
    finally:
        for worker in workers.values():
            worker.kill()
            worker.wait()


def _worker(scratch: Path, name: str) -> subprocess.Popen[bytes]:
    """A process with a name that reads well beside a plot; it does nothing. Only who holds the driver's device is taken for the
    process of that number here, so a machine without the driver needs a file of that name.
    """
    script = scratch / f"{name}.py"
    script.write_text(
        "import os, signal\nheld = open('/dev/nvidiactl') if os.path.exists('/dev/nvidiactl') else None\nsignal.pause()\n"
    )
    return subprocess.Popen(["python3", script.name], executable=os.path.realpath(sys.executable), cwd=scratch)


def _take(options: argparse.Namespace) -> int:
    from PySide6.QtWidgets import QApplication

    from gpuassist.app import compose
    from gpuassist.ui.application import WindowRun

    application = QApplication(["pictures"])
    session = compose(LANGUAGE)
    run = WindowRun(session, application, other=another_of(session) if options.only == "another" else None)
    run.window.resize(*map(int, options.size.split("x")))
    run.furnished.connect(lambda: step_through(run, KINDS[options.only](run, options.folder)))
    run.window.show()
    status = application.exec()
    run.end()
    return status


def _recorded(run: WindowRun, folder: Path) -> Shots:
    from gpuassist.install.what_if import Wish
    from gpuassist.session.navigation import (
        GoTo,
        SideTool,
        ToExplainText,
        ToGuide,
        ToInstall,
        ToProject,
        ToRepair,
        ToWhatIf,
        WizardStep,
    )
    from gpuassist.session.plan import InstallWish

    project = Path(os.environ["HOME"], "train")
    project.mkdir()
    for name, content in PROJECT.items():
        (project / name).write_text(content)
    scenes = (
        ("setup", NEW, GoTo(WizardStep.MACHINE)),
        ("setup-driver", NEW, GoTo(WizardStep.FOUND)),
        ("diagnosis", OLD_NVCC, GoTo(WizardStep.FOUND)),
        ("repair", OLD_NVCC, ToRepair(VERSION)),
        ("explain", OLD_NVCC, ToExplainText(NVCC)),
        ("out-of-memory", OLD_NVCC, ToExplainText(OUT_OF_MEMORY)),
        ("compatibility", OLD_NVCC, ToWhatIf(Wish(("10de:2684", "RTX 5090")))),
        ("guides", OLD_NVCC, ToGuide("cuda-versions")),
        ("project", OLD_NVCC, ToProject(str(project))),
        ("install", CPU_TORCH, ToInstall(InstallWish(torch="any"))),
    )
    assert run.frame is not None
    shown = ""
    for name, example, errand in scenes:
        if example != shown:
            yield from _open(run, example)
            shown = example
        run.frame.go(errand)
        yield 2 * SETTLED_MILLISECONDS
        yield from keep(run, folder, name)
    yield from _report(run, folder)
    run.frame.go(GoTo(SideTool.GUIDES))


def _open(run: WindowRun, example: str) -> Shots:
    from gpuassist.ui.page import OpenExample

    assert run.frame is not None
    run.frame.pages.machine_page.asked.emit(OpenExample(example))
    yield 2 * SETTLED_MILLISECONDS


def _report(run: WindowRun, folder: Path) -> Shots:
    from PySide6.QtWidgets import QAbstractButton

    from gpuassist.session.navigation import GoTo, WizardStep
    from gpuassist.ui.report_dialog import ReportDialog

    assert run.frame is not None
    yield from _open(run, OLD_NVCC)
    run.frame.go(GoTo(WizardStep.FOUND))
    yield SETTLED_MILLISECONDS
    button = next(each for each in run.window.findChildren(QAbstractButton) if each.isVisible() and each.text() == "Report…")
    button.click()
    yield 2 * SETTLED_MILLISECONDS
    dialog = run.window.findChildren(ReportDialog)[0]
    yield from keep(run, folder, "report", dialog.grab)
    dialog.reject()


def _furnished(run: WindowRun, folder: Path) -> Shots:
    from gpuassist.session.navigation import GoTo, WizardStep
    from gpuassist.ui.pages.repair.page import RepairPage

    assert run.frame is not None
    while not run.frame.flow.inspected:
        yield SETTLED_MILLISECONDS
    run.frame.go(GoTo(WizardStep.REPAIR))
    yield SETTLED_MILLISECONDS
    page = run.window.findChildren(RepairPage)[0]
    page.toolkit.open_for(VERSION)
    yield from _until_idle(page)
    page.toolkit.apply.trigger()
    yield from _until_idle(page)
    yield SETTLED_MILLISECONDS
    yield from keep(run, folder, "applied")


def _until_idle(page: RepairPage) -> Shots:
    yield SETTLED_MILLISECONDS
    while page.busy:
        yield SETTLED_MILLISECONDS // 3


def _verified(run: WindowRun, folder: Path) -> Shots:
    from gpuassist.session.navigation import GoTo, WizardStep
    from gpuassist.ui.pages.verify.page import VerifyPage

    assert run.frame is not None
    while not run.frame.flow.inspected:
        yield SETTLED_MILLISECONDS
    run.frame.go(GoTo(WizardStep.VERIFY))
    yield 2 * SETTLED_MILLISECONDS
    page = run.window.findChildren(VerifyPage)[0]
    page.start()
    for _ in range(VERIFY_SECONDS):
        yield 1000
        if page.under_way() is None:
            break
    yield SETTLED_MILLISECONDS
    yield from keep(run, folder, "verify")


def _running(run: WindowRun, folder: Path) -> Shots:
    from PySide6.QtCore import Qt
    from PySide6.QtTest import QTest

    from gpuassist.session.navigation import GoTo, SideTool, WizardStep

    assert run.frame is not None
    while not run.frame.flow.inspected:
        yield SETTLED_MILLISECONDS
    run.frame.go(GoTo(WizardStep.LIVE))
    yield LIVE_SECONDS * 1000
    QTest.keyClick(run.window, Qt.Key.Key_Minus)
    yield SETTLED_MILLISECONDS
    yield from keep(run, folder, "live")
    run.frame.go(GoTo(SideTool.HOLDERS))
    yield 2 * SETTLED_MILLISECONDS
    yield from keep(run, folder, "processes")


KINDS: dict[str, Callable[[WindowRun, Path], Shots]] = {
    "recorded": _recorded,
    "furnished": _furnished,
    "verified": _verified,
    "running": _running,
    "made": made,
    "traced": traced,
    "served": served,
    "another": another,
}
MISSING_WITHOUT: dict[str, tuple[Callable[[], bool], str]] = {
    "verified": ((ROOT / ".venv-torch").exists, "it needs .venv-torch, which `make test` makes"),
    "traced": ((ROOT / ".venv-torch").exists, "it needs .venv-torch, which `make test` makes"),
    "running": (lambda: shutil.which("gcc") is not None, "it needs gcc"),
}


if __name__ == "__main__":
    sys.exit(main())
