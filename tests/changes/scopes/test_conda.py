"""Conda's hooks in real shells, run in conda's own order: whatever was there before is there again, exactly."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest

from gpuassist.changes.scopes import conda
from gpuassist.changes.scopes.values import ScopeValues
from tests.changes.scopes.shells import ours, states, watched

HELD = ScopeValues("/opt/cuda-12.4", "/opt/cuda-12.4/lib64", ("0", "2"))
OTHER = ScopeValues("/opt/cuda 11.8", "", ("GPU-8932f937",))
ZSH, FISH = (pytest.param(shell, marks=pytest.mark.needs(shell)) for shell in ("zsh", "fish"))
SHELLS = ("bash", "dash", ZSH, FISH)
BEFORE: tuple[dict[str, str], ...] = (
    {},
    {"CUDA_HOME": "", "LD_LIBRARY_PATH": "", "CUDA_VISIBLE_DEVICES": ""},
    {
        "PATH": "/opt/cuda-12.4/bin:/usr/bin:/opt/cuda-12.4/bin:/bin",
        "CUDA_HOME": "/a 'b' \"c\" $d `e` \\f",
        "LD_LIBRARY_PATH": "/x:/opt/cuda-12.4/lib64",
        "CUDA_VISIBLE_DEVICES": "7",
        "CUDA_DEVICE_ORDER": "FASTEST_FIRST",
    },
)


@dataclass(frozen=True)
class Hooked:
    """A conda environment whose hooks are run as conda's own activate code does it (conda/activate.py)."""

    shell: str
    prefix: Path
    level: int = 1

    def make(self, held: ScopeValues) -> Hooked:
        fish = self.shell == "fish"
        for path, lines in (
            (conda.ACTIVATE, (conda.activate_fish if fish else conda.activate_lines)(str(self.prefix), held)),
            (conda.DEACTIVATE, (conda.deactivate_fish if fish else conda.deactivate_lines)(str(self.prefix), held)),
        ):
            file = self.prefix / f"{path}.{'fish' if fish else 'sh'}"
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(b"\n".join((*lines, b"")))
        return self

    def at(self, level: int) -> Hooked:
        return Hooked(self.shell, self.prefix, level)

    @property
    def bin(self) -> str:
        return f"{self.prefix}/bin"

    def activate(self) -> str:
        return "\n".join((self._path(f"{self.bin}:$PATH"), *self._entered()))

    def switch_from(self, old: Hooked) -> str:
        """PATH is worked out before the old one's hook runs, and written after it."""
        keep = "set before (string join : $PATH)" if self.shell == "fish" else 'before="$PATH"'
        if self.shell == "fish":
            written = f"set -gx PATH (string split : (string replace -- {old.bin} {self.bin} $before))"
        else:
            written = f'PATH="${{before%%{old.bin}*}}{self.bin}${{before#*{old.bin}}}"'
        return "\n".join((keep, old.hooks("deactivate"), written, *self._entered()))

    def deactivate(self, back_to: Hooked | None = None, *, stacked: bool = False) -> str:
        """PATH is written first, then the hooks run: the one that is left, then the one that is entered again."""
        other = back_to.bin if back_to and not stacked else ""
        if self.shell == "fish":
            place = f"PATH[(contains -i -- {self.bin} $PATH)]"
            written = f"set {place} {other}" if other else f"set -e {place}"
        else:
            rest = f"${{PATH#*{self.bin}}}" if other else f"${{PATH#*{self.bin}:}}"
            written = f'PATH="${{PATH%%{self.bin}*}}{other}{rest}"'
        left = self._set("CONDA_PREFIX", "") + "\n" + self._set("CONDA_SHLVL", "0")
        return "\n".join((written, self.hooks("deactivate"), *(back_to._entered() if back_to else (left,))))

    def reactivate(self) -> str:
        """After `conda install`: PATH as it was before the hooks is written between them."""
        if self.shell == "fish":
            keep, written = "set before $PATH", "set -gx PATH $before"
        else:
            keep, written = 'before="$PATH"', 'PATH="$before"'
        return "\n".join((keep, self.hooks("deactivate"), written, self.hooks("activate")))

    def hooks(self, folder: str) -> str:
        name = f"{self.prefix}/etc/conda/{folder}.d/gpuassist.{'fish' if self.shell == 'fish' else 'sh'}"
        return f"if test -f {name}; . {name}; end" if self.shell == "fish" else f"if [ -f {name} ]; then . {name}; fi"

    def _entered(self) -> tuple[str, ...]:
        return self._set("CONDA_PREFIX", str(self.prefix)), self._set("CONDA_SHLVL", str(self.level)), self.hooks("activate")

    def _set(self, name: str, value: str) -> str:
        return f"set -gx {name} '{value}'" if self.shell == "fish" else f"export {name}='{value}'"

    def _path(self, value: str) -> str:
        return f"set -gx PATH {value.replace(':', ' ')}" if self.shell == "fish" else f'export PATH="{value}"'


@pytest.mark.parametrize("before", BEFORE)
@pytest.mark.parametrize("shell", SHELLS)
def test_leaving_puts_back_exactly_what_was_there(tmp_path: Path, shell: str, before: dict[str, str]) -> None:
    one = Hooked(shell, tmp_path / "one").make(HELD)
    first, inside, after = states(shell, f"@\n{one.activate()}\n@\n{one.deactivate()}\n@", before)
    assert inside["PATH"].startswith(f"/opt/cuda-12.4/bin:{one.bin}:")
    assert inside["LD_LIBRARY_PATH"].split(":")[0] == "/opt/cuda-12.4/lib64"
    assert (inside["CUDA_HOME"], inside["CUDA_VISIBLE_DEVICES"]) == ("/opt/cuda-12.4", "0,2")
    assert watched(after) == watched(first)
    assert ours(after) == []


@pytest.mark.parametrize("shell", SHELLS)
def test_one_environment_on_top_of_another_is_left_in_turn(tmp_path: Path, shell: str) -> None:
    one, two = Hooked(shell, tmp_path / "one").make(HELD), Hooked(shell, tmp_path / "two", 2).make(OTHER)
    three = one.at(3)
    back = (three.deactivate(two, stacked=True), two.deactivate(one, stacked=True), one.deactivate())
    script = "\n@\n".join(("", one.activate(), two.activate(), three.activate(), *back, ""))
    before, first, second, third, second_again, first_again, after = map(watched, states(shell, script, BEFORE[2]))
    assert (second["CUDA_HOME"], third["CUDA_HOME"]) == ("/opt/cuda 11.8", "/opt/cuda-12.4")
    assert (second_again, first_again, after) == (second, first, before)


@pytest.mark.parametrize("hooked", [True, False])
@pytest.mark.parametrize("shell", SHELLS)
def test_going_straight_to_another_environment_and_back(tmp_path: Path, shell: str, hooked: bool) -> None:
    one, two = Hooked(shell, tmp_path / "one").make(HELD), Hooked(shell, tmp_path / "two", 2)
    if hooked:
        two.make(OTHER)
    script = "\n@\n".join(("", one.activate(), two.switch_from(one), two.deactivate(one), one.deactivate(), ""))
    before, first, second, first_again, after = states(shell, script, BEFORE[2])
    assert second.get("CUDA_HOME") == ("/opt/cuda 11.8" if hooked else before["CUDA_HOME"])
    if hooked:
        assert second["PATH"] == f"/opt/cuda 11.8/bin:{two.bin}:{before['PATH']}"
    assert watched(first_again) == watched(first)
    assert watched(after) == watched(before)
    assert ours(after) == []


@pytest.mark.parametrize("shell", SHELLS)
def test_installing_into_the_active_environment_runs_both_hooks(tmp_path: Path, shell: str) -> None:
    one = Hooked(shell, tmp_path / "one").make(HELD)
    script = "\n@\n".join(("", one.activate(), one.reactivate(), one.deactivate(), ""))
    before, first, second, after = states(shell, script, BEFORE[2])
    assert first == second
    assert (watched(after), ours(after)) == (watched(before), [])


@pytest.mark.parametrize("shell", SHELLS)
def test_running_a_hook_twice_is_running_it_once(tmp_path: Path, shell: str) -> None:
    one = Hooked(shell, tmp_path / "one").make(HELD)
    twice = f"{one.activate()}\n@\n{one.hooks('activate')}\n@\n{one.deactivate()}\n{one.hooks('deactivate')}\n@"
    first, second, after = states(shell, twice)
    assert first == second
    assert watched(after) == {"PATH": "/usr/bin:/bin"}


@pytest.mark.parametrize("shell", ["bash", ZSH])
def test_holds_under_the_strictest_options(tmp_path: Path, shell: str) -> None:
    one = Hooked(shell, tmp_path / "one").make(HELD)
    strict = "set -eu\n" + ("shopt -s nocasematch\n" if shell == "bash" else "setopt extended_glob no_unset\n")
    before, after = states(
        shell, f"{strict}@\n{one.activate()}\n{one.deactivate()}\n@", {"LD_LIBRARY_PATH": "/OPT/CUDA-12.4/LIB64"}
    )
    assert watched(after) == watched(before)


def test_a_shell_inside_leaves_it_for_itself(tmp_path: Path) -> None:
    one = Hooked("bash", tmp_path / "one").make(HELD)
    inner = one.deactivate().replace("'", "'\\''")
    first, inside = states("bash", f"@\n{one.activate()}\nbash --norc -c '{inner}\nenv -0'; printf 'END\\0'")
    assert watched(inside) == watched(first)


def test_an_environment_that_holds_nothing_has_no_lines() -> None:
    assert conda.activate_lines("/x", ScopeValues()) == conda.deactivate_lines("/x", ScopeValues()) == ()
    assert conda.activate_fish("/x", ScopeValues()) == conda.deactivate_fish("/x", ScopeValues()) == ()
