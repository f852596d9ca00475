"""Starts the real window with the machines that ship with gpuassist and saves a picture of every page, light and dark.

    python tools/screenshots.py [FOLDER] [--size 1280x800] [--example NAME]... [--language LANG] [--page PAGE]... [--gpu NAME]...
                                 [--torch VERSION] [--text FILE] [--project FOLDER] [--repair]

With --repair it takes the states of the repair page instead, on this machine with a home of its own.

Without a display it starts Xvfb. What the window remembers and changes goes into a home of its own that is thrown away.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

sys.path.insert(0, str(Path(__file__).parents[1]))

from tools.repair_states import furnish, private, states

if TYPE_CHECKING:
    from gpuassist.ui.application import WindowRun

EXAMPLES = ("02-rtx-4090-cuda-11-7-first",)
OUT_OF_MEMORY = (
    "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 1.50 GiB. GPU 0 has a total capacity of 23.99 "
    "GiB of which 412.00 MiB is free. Process 39021 has 3.21 GiB memory in use. Including non-PyTorch memory, this "
    "process has 20.38 GiB memory in use. Of the allocated memory 14.02 GiB is allocated by PyTorch, and 5.83 GiB "
    "is reserved by PyTorch but unallocated. If reserved but unallocated memory is large try setting "
    "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True to avoid fragmentation.  See documentation for Memory "
    "Management  (https://pytorch.org/docs/stable/notes/cuda.html#environment-variables)"
)
SETTLED_MILLISECONDS = 1500  # a page has painted what it shows, and an indicator that was shown has gone


def main() -> int:
    """Takes the pictures and prints their names."""
    options = _options()
    options.folder.mkdir(parents=True, exist_ok=True)
    with display() as screen, tempfile.TemporaryDirectory() as home:
        os.environ.update({**private(home), "DISPLAY": screen, "QT_QPA_PLATFORM": "xcb"})
        if options.repair:
            furnish(Path(home))
        return 0 if _take(options) else 1


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", type=Path, default=Path("docs/screenshots"))
    parser.add_argument("--size", default="1280x800")
    parser.add_argument("--example", action="append", help="a machine in resources/machines, without its ending")
    parser.add_argument("--language", default="en")
    parser.add_argument("--page", action="append", help="the name of a page, such as what-if; all without it")
    parser.add_argument(
        "--gpu", action="append", help="a GPU that the page What if is opened for; an RTX 4090 and a 5090 without it"
    )
    parser.add_argument("--torch", default="any", help="the torch that the page Install is opened for, `2.7`")
    parser.add_argument("--text", default="", help="a file with the text that the page Explain an error shows")
    parser.add_argument("--project", default="", help="the folder that the page for one is opened for")
    parser.add_argument("--repair", action="store_true", help="the states of the repair page, in a home made for it")
    return parser.parse_args()


@contextmanager
def display() -> Iterator[str]:
    """An X server of our own, gone afterwards; its name."""
    read, write = os.pipe()
    server = subprocess.Popen(
        # -noreset: without it the server drops everybody once a client has gone that was alone for a moment
        ["Xvfb", "-displayfd", str(write), "-screen", "0", "2400x1600x24", "-nolisten", "tcp", "-noreset"],
        pass_fds=[write],
        stderr=subprocess.DEVNULL,
    )
    try:
        yield ":" + os.read(read, 16).decode().strip()
    finally:
        server.terminate()
        server.wait()


def _take(options: argparse.Namespace) -> bool:
    from PySide6.QtWidgets import QApplication

    from gpuassist.app import compose
    from gpuassist.ui.application import WindowRun

    application = QApplication(["screenshots"])
    run = WindowRun(compose(options.language), application)
    width, height = map(int, options.size.split("x"))
    run.window.resize(width, height)
    run.furnished.connect(lambda: step_through(run, (_repair_shots if options.repair else _shots)(run, options)))
    run.window.show()
    status = application.exec()
    run.end()
    return status == 0


def step_through(run: WindowRun, shots: Iterator[int]) -> None:
    """Asks `shots` for one thing after the other, each once the one before has settled, and closes the window."""
    from PySide6.QtCore import QCoreApplication, QTimer

    def step() -> None:
        failed = True
        try:
            wait = next(shots, None)
            failed = False
        finally:
            if failed:
                QCoreApplication.exit(1)
        if wait is None:
            run.window.close()
            QCoreApplication.quit()
        else:
            QTimer.singleShot(wait, step)

    QTimer.singleShot(SETTLED_MILLISECONDS, step)


def _shots(run: WindowRun, options: argparse.Namespace) -> Iterator[int]:
    """Does one thing each time it is asked, and says how many milliseconds that takes to settle."""
    from gpuassist.install.what_if import Wish
    from gpuassist.session.kept_place import place_named
    from gpuassist.session.navigation import (
        Errand,
        GoTo,
        Place,
        SideTool,
        ToExplainFile,
        ToExplainText,
        ToGuide,
        ToInstall,
        ToProject,
        ToRepair,
        ToWhatIf,
        WizardStep,
    )
    from gpuassist.session.plan import InstallWish
    from gpuassist.ui.page import OpenExample

    assert run.frame is not None
    every: tuple[Place, ...] = (*WizardStep, *SideTool)
    wanted = [place for page in options.page for place in [place_named(page)] if place is not None] if options.page else every
    for example in options.example or EXAMPLES:
        run.frame.pages.machine_page.asked.emit(OpenExample(example))
        yield SETTLED_MILLISECONDS
        errands: tuple[Errand, ...] = (
            ToExplainFile(os.path.abspath(options.text)) if options.text else ToExplainText(OUT_OF_MEMORY),
            ToWhatIf(Wish(tuple(options.gpu or ("10de:2684", "RTX 5090")))),
            ToInstall(InstallWish(torch=options.torch)),
            ToGuide("memory-numbers"),
            ToProject(os.path.abspath(options.project) if options.project else ""),
            *((ToRepair(run.frame.flow.repairable),) if run.frame.flow.repairable else ()),
        )
        opened_for = {errand.place: errand for errand in errands}
        for place in wanted:
            run.frame.go(opened_for.get(place, GoTo(place)))
            yield SETTLED_MILLISECONDS
            yield from _both(run, options.folder, f"{example}-{place.value}")


def _repair_shots(run: WindowRun, options: argparse.Namespace) -> Iterator[int]:
    from gpuassist.session.navigation import GoTo, WizardStep
    from gpuassist.ui.pages.repair.page import RepairPage

    assert run.frame is not None
    while not run.frame.flow.inspected:
        yield SETTLED_MILLISECONDS
    run.frame.go(GoTo(WizardStep.REPAIR))
    yield SETTLED_MILLISECONDS
    page = run.window.findChildren(RepairPage)[0]
    for name in states(page):
        yield SETTLED_MILLISECONDS
        while page.busy:
            yield SETTLED_MILLISECONDS // 3
        yield from _both(run, options.folder, f"repair-{name}")


def _both(run: WindowRun, folder: Path, name: str) -> Iterator[int]:
    from gpuassist.ui.theme import Appearance

    assert run.theme is not None
    for appearance in (Appearance.LIGHT, Appearance.DARK):
        run.theme.choose(appearance)
        yield SETTLED_MILLISECONDS // 3
        path = folder / f"{name}-{appearance.value}.png"
        run.window.grab().save(str(path))
        print(path)


if __name__ == "__main__":
    sys.exit(main())
