"""The shape gates notice what they forbid."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

SCRIPT = Path(__file__).resolve().parent.parent / ".ci" / "check_shape.py"


@pytest.fixture(scope="module")
def gates() -> ModuleType:
    spec = importlib.util.spec_from_file_location("check_shape", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project that keeps every gate: one small function, and enough tests."""
    _write(tmp_path / "gpuassist" / "a.py", "def f() -> int:\n    return 1\n")
    _write(tmp_path / "tests" / "test_a.py", "x = 1\n" * 200)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def _write(path: Path, content: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content)


def _judge(gates: ModuleType, capsys: pytest.CaptureFixture[str]) -> tuple[int, str]:
    return gates.main(), capsys.readouterr().out


def test_small_project_passes(gates: ModuleType, project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert _judge(gates, capsys)[0] == 0


def test_long_function_is_named(gates: ModuleType, project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _write(project / "gpuassist" / "b.py", "def long() -> None:\n" + "    pass\n" * 81)
    status, out = _judge(gates, capsys)
    assert status == 1
    assert "b.py:1: long has 82 lines" in out


def test_long_file_is_named(gates: ModuleType, project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _write(project / "gpuassist" / "b.py", "x = 1\n" * 401)
    assert "b.py: 401 lines, at most 400" in _judge(gates, capsys)[1]


def test_class_name_that_stands_twice_is_named(gates: ModuleType, project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("b", "c"):
        _write(project / "gpuassist" / f"{name}.py", "class Step: ...\nclass _Own: ...\n")
    assert "Step stands in gpuassist/b.py, gpuassist/c.py: a public class name stands once" in _judge(gates, capsys)[1]
    assert "_Own" not in _judge(gates, capsys)[1]


@pytest.mark.parametrize(("name", "named"), [("asking", True), ("marked", True), ("finding", False), ("asked_shell", False)])
def test_module_that_is_named_by_a_participle_is_told(
    gates: ModuleType, project: Path, capsys: pytest.CaptureFixture[str], name: str, named: bool
) -> None:
    _write(project / "gpuassist" / f"{name}.py", "x = 1\n")
    assert (f"gpuassist/{name}.py: a module is named by its subject" in _judge(gates, capsys)[1]) is named


def test_main_window_has_a_tighter_limit(gates: ModuleType, project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _write(project / "gpuassist" / "main_window.py", "x = 1\n" * 251)
    assert "main_window.py: 251 lines, at most 250" in _judge(gates, capsys)[1]


def test_mutable_value_is_named(gates: ModuleType, project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _write(project / "gpuassist" / "model" / "v.py", "class V(Struct):\n    x: int\n")
    assert "V is neither a frozen struct" in _judge(gates, capsys)[1]


def test_enum_and_error_are_values_too(gates: ModuleType, project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _write(project / "gpuassist" / "model" / "v.py", "class E(str, Enum):\n    A = 'a'\n\nclass F(ValueError):\n    pass\n")
    assert _judge(gates, capsys)[0] == 0


def test_broad_except_away_from_the_borders_is_named(gates: ModuleType, project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _write(project / "gpuassist" / "b.py", "try:\n    pass\nexcept Exception:\n    pass\n")
    assert "b.py:3: a broad except" in _judge(gates, capsys)[1]


def test_border_may_have_one_broad_except(gates: ModuleType, project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _write(project / "gpuassist" / "ui" / "jobs.py", "try:\n    pass\nexcept Exception:\n    pass\n")
    assert _judge(gates, capsys)[0] == 0


def test_border_may_not_have_two(gates: ModuleType, project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _write(project / "gpuassist" / "ui" / "jobs.py", "try:\n    pass\nexcept Exception:\n    pass\n" * 2)
    assert _judge(gates, capsys)[0] == 1


def test_bare_except_counts_as_broad(gates: ModuleType, project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _write(project / "gpuassist" / "b.py", "try:\n    pass\nexcept:\n    pass\n")
    assert "broad excepts: 1" in _judge(gates, capsys)[1]
