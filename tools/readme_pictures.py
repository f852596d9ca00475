"""Takes the README's pictures: the pages of the real window, with a recorded machine, a scripted NVML and a real torch.

    python tools/readme_pictures.py [FOLDER]

Needs Xvfb and gcc; `make test` must have made .venv-torch. Machine, found, repair, explain and what-if show the shipped example
"RTX 4090, CUDA 11.7 is first"; verify runs on this machine's CPU in .venv-torch; live memory shows two scripted GPUs.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

EXAMPLE = "02-rtx-4090-cuda-11-7-first"
RECORDED = ("machine", "found", "repair", "explain", "what-if")
LIVE_SECONDS = 75
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


def main(folder: Path) -> int:
    """Takes the pictures of the recorded machine first, then those that need something running."""
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch:
        shots = [sys.executable, str(ROOT / "tools" / "screenshots.py"), scratch, "--example", EXAMPLE]
        subprocess.run([*shots, *(word for page in RECORDED for word in ("--page", page))], check=True)
        for page, shade in (*((page, "light") for page in RECORDED), ("found", "dark")):
            (folder / f"{page}-{shade}.png").write_bytes((Path(scratch) / f"{EXAMPLE}-{page}-{shade}.png").read_bytes())
        _running(folder, Path(scratch))
    return 0


def _running(folder: Path, scratch: Path) -> None:
    from benchmarks.nvml import variables
    from tools.screenshots import display

    workers = {name: _worker(scratch, name) for name in ("train", "notebook", "desktop")}
    nvml = variables(scratch, SCENARIO.format(**{name: worker.pid for name, worker in workers.items()}))
    home = scratch / "home"
    home.mkdir()
    own = {"HOME": str(home), "QT_QPA_PLATFORM": "xcb", "VIRTUAL_ENV": str(ROOT / ".venv-torch")}
    try:
        with display() as screen:
            environment = {**os.environ, **nvml, **own, "DISPLAY": screen}
            for page in ("verify", "live"):
                subprocess.run([sys.executable, __file__, "--page", page, str(folder)], env=environment, check=True)
    finally:
        for worker in workers.values():
            worker.kill()


def _worker(scratch: Path, name: str) -> subprocess.Popen[bytes]:
    """A process with a name that reads well beside a plot; it does nothing. Only who holds the driver's device is taken for the
    process of that number here, so a machine without the driver needs a file of that name.
    """
    script = scratch / f"{name}.py"
    script.write_text(
        "import os, signal\nheld = open('/dev/nvidiactl') if os.path.exists('/dev/nvidiactl') else None\nsignal.pause()\n"
    )
    return subprocess.Popen(["python3", script.name], executable=os.path.realpath(sys.executable), cwd=scratch)


def take(page: str, folder: Path) -> None:
    """In the child: shows one page of this very machine and saves it when there is something to see."""
    from PySide6.QtCore import QCoreApplication, Qt, QTimer
    from PySide6.QtTest import QTest
    from PySide6.QtWidgets import QApplication

    from gpuassist.app import compose
    from gpuassist.session.navigation import GoTo, WizardStep
    from gpuassist.ui.application import WindowRun
    from gpuassist.ui.theme import Appearance

    application = QApplication(["pictures"])
    run = WindowRun(compose("en"), application)
    run.window.resize(1280, 800)
    shade = Appearance.DARK if page == "live" else Appearance.LIGHT

    def save() -> None:
        if page == "live":
            QTest.keyClick(run.window, Qt.Key.Key_Minus)
            QTimer.singleShot(1500, keep)
        else:
            keep()

    def keep() -> None:
        run.window.grab().save(str(folder / f"{page}-{shade.value}.png"))
        run.window.close()
        QCoreApplication.quit()

    def show() -> None:
        assert run.frame is not None
        assert run.theme is not None
        run.theme.choose(shade)
        run.frame.go(GoTo(WizardStep(page)))
        if page == "verify":
            QTimer.singleShot(1500, lambda: run.frame.pages.page(WizardStep.VERIFY).start())  # type: ignore[union-attr, attr-defined]
        QTimer.singleShot((LIVE_SECONDS if page == "live" else 25) * 1000, save)

    run.furnished.connect(lambda: QTimer.singleShot(6000, show))
    run.window.show()
    application.exec()
    run.end()


if __name__ == "__main__":
    if sys.argv[1:2] == ["--page"]:
        take(sys.argv[2], Path(sys.argv[3]))
    else:
        sys.exit(main(Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "docs" / "pictures"))
