"""The block in the activate scripts of a real virtual environment: leaving it puts everything back, in real shells."""

from __future__ import annotations

import venv
from pathlib import Path

import pytest

from gpuassist.changes.scopes import venv as scope
from gpuassist.changes.scopes.values import ScopeValues
from gpuassist.shellfiles.edit import LineChanges, write
from tests.changes.scopes.shells import states, watched

HELD = ScopeValues("/opt/cuda-12.4", "/opt/cuda-12.4/lib64", ("0", "2"))
OTHER = ScopeValues("/opt/cuda 11.8")
ZSH, FISH = (pytest.param(shell, marks=pytest.mark.needs(shell)) for shell in ("zsh", "fish"))
SHELLS = ("bash", ZSH, FISH)
BEFORE = {"PATH": "/opt/cuda-12.4/bin:/usr/bin:/bin", "CUDA_HOME": "/a 'b' $c", "LD_LIBRARY_PATH": "/x", "CUDA_VISIBLE_DEVICES": ""}
NOTHING: dict[str, str] = {}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An environment without the block."""
    directory = tmp_path_factory.mktemp("venv")
    venv.EnvBuilder(symlinks=True, with_pip=False).create(directory)
    return directory


def _with(made: Path, tmp_path: Path, name: str, held: ScopeValues) -> Path:
    """A second one of the same scripts, with the block."""
    root = tmp_path / name
    (root / "bin").mkdir(parents=True)
    for script, lines in (("activate", scope.activate_lines(held)), ("activate.fish", scope.activate_fish(held))):
        content = (made / "bin" / script).read_bytes().replace(str(made).encode(), str(root).encode())
        (root / "bin" / script).write_bytes(write(content, lines, LineChanges(), "20261121-090000-abcdef"))
    return root


def _on(shell: str, root: Path) -> str:
    return f". {root}/bin/activate.fish" if shell == "fish" else f". {root}/bin/activate"


@pytest.mark.parametrize("before", [NOTHING, BEFORE])
@pytest.mark.parametrize("shell", SHELLS)
def test_leaving_puts_back_exactly_what_was_there(made: Path, tmp_path: Path, shell: str, before: dict[str, str]) -> None:
    root = _with(made, tmp_path, "one", HELD)
    first, inside, after = states(shell, f"@\n{_on(shell, root)}\n@\ndeactivate\n@", before)
    assert inside["PATH"].startswith(f"/opt/cuda-12.4/bin:{root}/bin:")
    assert inside["LD_LIBRARY_PATH"].split(":")[0] == "/opt/cuda-12.4/lib64"
    assert (inside["CUDA_HOME"], inside["CUDA_VISIBLE_DEVICES"]) == ("/opt/cuda-12.4", "0,2")
    assert after.keys() - first.keys() <= {"PS1"}
    assert watched(after) == watched(first)


@pytest.mark.parametrize("shell", SHELLS)
def test_activating_twice_is_activating_once(made: Path, tmp_path: Path, shell: str) -> None:
    root = _with(made, tmp_path, "one", HELD)
    on = _on(shell, root)
    before, once, twice, after = map(watched, states(shell, f"@\n{on}\n@\n{on}\n@\ndeactivate\n@", BEFORE))
    assert (twice, after) == (once, before)


@pytest.mark.parametrize("shell", SHELLS)
def test_going_straight_to_another_environment(made: Path, tmp_path: Path, shell: str) -> None:
    one, two = _with(made, tmp_path, "one", HELD), _with(made, tmp_path, "two", OTHER)
    script = f"@\n{_on(shell, one)}\n{_on(shell, two)}\n@\ndeactivate\n@"
    before, inside, after = map(watched, states(shell, script, BEFORE))
    assert inside == {**before, "CUDA_HOME": "/opt/cuda 11.8", "PATH": f"/opt/cuda 11.8/bin:{two}/bin:{before['PATH']}"}
    assert after == before


@pytest.mark.parametrize("shell", SHELLS)
def test_what_stays_on_the_way_to_one_without_the_block(made: Path, tmp_path: Path, shell: str) -> None:
    one = _with(made, tmp_path, "one", HELD)
    script = f"@\n{_on(shell, one)}\n{_on(shell, made)}\n@\n{_on(shell, one)}\ndeactivate\n@"
    before, inside, after = map(watched, states(shell, script, BEFORE))
    assert inside["PATH"] == f"{made}/bin:{before['PATH']}"
    # bash and zsh: the other environment's `deactivate` has taken the place of ours before it is called.
    assert inside["CUDA_HOME"] == (before["CUDA_HOME"] if shell == "fish" else "/opt/cuda-12.4")
    assert after == before


@pytest.mark.parametrize("shell", ["bash", ZSH])
def test_leaves_no_function_and_no_variable(made: Path, tmp_path: Path, shell: str) -> None:
    root = _with(made, tmp_path, "one", HELD)
    left = (
        "set | grep -a -i '^_*gpuassist' && exit 9; declare -f | grep -a -i gpuassist && exit 8; declare -f deactivate && exit 7; @"
    )
    states(shell, f"set -u\n{_on(shell, root)}\ndeactivate\n{left}")


@pytest.mark.needs("fish")
def test_leaves_no_function_and_no_variable_in_fish(made: Path, tmp_path: Path) -> None:
    root = _with(made, tmp_path, "one", HELD)
    left = "set -n | string match -q -i '*gpuassist*'; and exit 9\nfunctions -n -a | string match -q -i '*gpuassist*'; and exit 8"
    states("fish", f"{_on('fish', root)}\ndeactivate\n{left}\n@")


def test_another_shell_sets_it_and_keeps_it(made: Path, tmp_path: Path) -> None:
    root = _with(made, tmp_path, "one", HELD)
    inside, after = states("dash", f"{_on('dash', root)}\n@\ndeactivate\n@")
    assert inside["CUDA_HOME"] == after["CUDA_HOME"] == "/opt/cuda-12.4"


def test_an_environment_that_holds_nothing_has_no_lines() -> None:
    assert scope.activate_lines(ScopeValues()) == scope.activate_fish(ScopeValues()) == ()
