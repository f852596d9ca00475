"""What is imported when, because imports are what start-up time is made of; and that the Qt in use does not lose references."""

from __future__ import annotations

import json
import marshal
import subprocess
import sys
from pathlib import Path

import pytest

from gpuassist.system import ask_shell, nvml_probe, nvml_report

HEAVY = ("PySide6", "shiboken6", "pyqtgraph", "numpy", "torch", "tree_sitter", "psutil", "pynvml", "hypothesis")


def _modules_after(code: str, *, home: str) -> set[str]:
    program = f"{code}\nimport sys\nnames = sorted(sys.modules)\nimport json\nprint()\nprint(json.dumps(names))"
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        timeout=100,
        check=True,
        env={"HOME": home, "PATH": "/usr/bin:/bin", "QT_QPA_PLATFORM": "offscreen"},
    )
    return set(json.loads(done.stdout.splitlines()[-1]))


@pytest.fixture
def imported(tmp_path: object) -> set[str]:
    return _modules_after("import gpuassist.app", home=str(tmp_path))


def test_entry_point_imports_nothing_heavy(imported: set[str]) -> None:
    assert imported & set(HEAVY) == set()


def test_window_imports_no_plot_before_it_is_shown(tmp_path: object) -> None:
    modules = _modules_after("import gpuassist.app, gpuassist.ui.application, gpuassist.ui.main_window", home=str(tmp_path))
    assert "PySide6" in modules
    assert modules & {"pyqtgraph", "numpy", "tree_sitter", "torch", "pynvml"} == set()


def test_headless_sample_imports_no_window_and_no_parser(tmp_path: object) -> None:
    modules = _modules_after("import gpuassist.app, gpuassist.cli.monitor", home=str(tmp_path))
    assert modules & {"PySide6", "pyqtgraph", "numpy", "tree_sitter", "torch"} == set()


def test_no_source_is_read_to_import_the_window(tmp_path: object) -> None:
    """PySide6 looks in the source of each module for its own name, for those that want `__feature__`."""
    code = "import gpuassist.ui.frame, linecache, builtins\nread = [one for one in linecache.cache if 'gpuassist' in one]\n"
    code += "assert not read, read\nassert builtins.__import__.__name__ != '__feature_import__'"
    assert "gpuassist.ui.frame" in _modules_after(code, home=str(tmp_path))


_DESCRIBED = """
def late():
    names = ("parser", "layout", "errorhandler", "lib.enum_sig", "lib.pyi_generator")
    return [name for name in names if "__getattr__" in vars(sys.modules[f"shibokensupport.signature.{name}"])]

print(json.dumps(late()), builtins.compile is real)
from PySide6.QtWidgets import QApplication, QLabel
application = QApplication([])
try:
    QLabel().setText(object())
except TypeError as error:
    print(error)
print(QLabel.__doc__, QLabel.setText.__doc__)
print(json.dumps(late()))
"""


def _described(first: str, home: str) -> list[str]:
    done = subprocess.run(
        [sys.executable, "-c", f"import builtins, json, sys\nreal = builtins.compile\nimport {first}\n{_DESCRIBED}"],
        capture_output=True,
        text=True,
        timeout=100,
        check=True,
        env={"HOME": home, "PATH": "/usr/bin:/bin", "QT_QPA_PLATFORM": "offscreen"},
    )
    return done.stdout.splitlines()


def test_signatures_of_qt_are_made_when_somebody_asks_and_say_the_same(tmp_path: object) -> None:
    theirs = _described("PySide6.QtCore", str(tmp_path))
    ours = _described("gpuassist.ui", str(tmp_path))
    assert theirs[0] == "[] True"
    assert ours[0] == '["parser", "layout", "errorhandler", "lib.enum_sig", "lib.pyi_generator"] True'
    assert any("setText(arg__1: str" in line for line in ours)
    assert ours[1:-1] == theirs[1:-1]
    assert json.loads(ours[-1]) == ["lib.enum_sig", "lib.pyi_generator"]  # which make stubs, for which nobody asked


RECORDED = str(Path(__file__).parents[1] / "resources/machines/04-driver-too-old.json")

# What costs a start milliseconds, and what only some of all that a file can do needs.
LATE = (
    *("dataclasses", "logging", "tempfile", "shutil", "subprocess", "selectors", "asyncio", "ctypes", "secrets", "hashlib"),
    *("gpuassist.detect.machine", "gpuassist.detect.runner", "gpuassist.system.terminal", "gpuassist.system.ask_shell"),
)


_SINCE_3_11 = ("typing_extensions",) if sys.version_info >= (3, 11) else ()


@pytest.mark.parametrize(
    ("arguments", "not_needed"),
    [
        (["--version"], ("argparse", "msgspec", "json", "gpuassist.app")),
        (
            ["undo", "--list"],
            ("difflib", "tomllib", "gpuassist.model.machine", "gpuassist.shellfiles.bash"),
        ),
        (["doctor", "--machine", RECORDED], ("gpuassist.install.torch_index", "gpuassist.detect.readers")),
        (["plan", "torch", "--machine", RECORDED], ("gpuassist.detect.readers",)),
        (["explain", "--machine", "none", RECORDED], ("gpuassist.install.outlook",)),
        (
            ["monitor", "--headless", "--count", "1"],
            ("pathlib", "sqlite3", "gpuassist.knowledge.files", "gpuassist.session.alert_notices", *_SINCE_3_11),
        ),
    ],
    ids=lambda one: one[0] if isinstance(one, list) else "",
)
def test_short_command_imports_nothing_that_it_does_not_use(
    tmp_path: object, arguments: list[str], not_needed: tuple[str, ...]
) -> None:
    """Modules come along with whatever stands in the same file as their users; `benchmarks.commands` measures what they cost."""
    code = f"import sys\nfrom gpuassist import __main__\nsys.argv[1:] = {arguments!r}\n"
    code += "try:\n    __main__._run()\nexcept SystemExit:\n    pass"
    assert _modules_after(code, home=str(tmp_path)) & {*HEAVY, *LATE, *not_needed} == set()


_REFERENCES = """
import sys
from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QApplication, QLabel

class Emitter(QObject):
    happened = Signal(object)

application = QApplication([])
label, emitter = QLabel(), Emitter()
emitter.happened.connect(label.setText)
nones, trues = sys.getrefcount(None), sys.getrefcount(True)
for count in range(20_000):
    label.setText("x")
    if count < 400:
        emitter.happened.emit("y")
print(nones - sys.getrefcount(None), trues - sys.getrefcount(True))
"""


def test_installed_qt_keeps_references_of_none_and_true() -> None:
    """PySide6 6.12.0 on Python 3.10 and 3.11 loses one at each call and aborts the process after some thousand."""
    done = subprocess.run(
        [sys.executable, "-c", _REFERENCES],
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
        env={"QT_QPA_PLATFORM": "offscreen", "PATH": "/usr/bin:/bin"},
    )
    assert done.returncode == 0, done.stderr
    assert all(int(lost) < 50 for lost in done.stdout.split())


_WITHOUT_QT = """
import sys

class Blocker:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {"PySide6", "shiboken6", "pyqtgraph", "numpy"}:
            raise ModuleNotFoundError(f"No module named {name!r}")

sys.meta_path.insert(0, Blocker())
from gpuassist import app
sys.exit(app.main(sys.argv[1:]))
"""


def _without_qt(*arguments: str, home: str, **variables: str) -> subprocess.CompletedProcess[str]:
    environment = {"HOME": home, "PATH": "/usr/bin:/bin", "LANG": "C.UTF-8", **variables}
    return subprocess.run(
        [sys.executable, "-c", _WITHOUT_QT, *arguments], capture_output=True, text=True, timeout=100, check=False, env=environment
    )


def test_doctor_runs_where_qt_is_not_installed(tmp_path: object) -> None:
    done = _without_qt("doctor", "--json", home=str(tmp_path))
    assert done.returncode in {0, 1, 2, 3}, done.stderr
    assert json.loads(done.stdout)["schema"] == 1


def test_window_without_qt_says_what_is_missing(tmp_path: object) -> None:
    done = _without_qt(home=str(tmp_path), DISPLAY=":99")
    assert "PySide6" in done.stderr
    assert "Traceback" not in done.stderr


def test_frozen_program_asks_shells_of_itself(tmp_path: Path) -> None:
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    request = {"command": ["/no/shell"], "environment": {}, "directory": "/", "terminal": True, "seconds": 5.0}
    request |= {"scratch": str(scratch), "enters": 0, "prompt_at": -1}
    command = [sys.executable, "-m", "gpuassist", ask_shell.HIDDEN_ARGUMENT]
    done = subprocess.run(command, input=marshal.dumps(request), capture_output=True, timeout=60, check=False)
    assert "/no/shell" in marshal.loads(done.stdout)["words"]


def test_frozen_program_reports_nvml_of_itself(tmp_path: object) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "gpuassist", nvml_probe.HIDDEN_ARGUMENT], capture_output=True, text=True, timeout=100, check=False
    )
    facts = [json.loads(line)["fact"] for line in done.stdout.splitlines()]
    assert done.returncode == 0
    assert nvml_report.INIT in facts
