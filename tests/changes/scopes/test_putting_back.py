"""Kept and put back: for any values that variables can have, all of them in one run of each shell."""

from __future__ import annotations

import random

import pytest

from gpuassist.changes.scopes import hooks
from gpuassist.changes.scopes.values import ScopeValues
from tests.changes.scopes.shells import states, watched

HELD = ScopeValues("/opt/cuda", "/opt/cuda/lib64", ("0",))
CASES = 25
LISTS = "LD_LIBRARY_PATH PATH"
_PARTS = (
    "/opt/cuda/bin",
    "/opt/cuda/lib64",
    "/OPT/CUDA/BIN",
    "/opt/cuda/bin2",
    "/usr/bin",
    "/bin",
    "/a b",
    "/*",
    "/[x]",
    "/~",
    "/é",
)
_VALUES = (
    "",
    "/x",
    "a b",
    "it's",
    '"',
    "\\",
    "$HOME",
    "`id`",
    "=",
    "==x",
    "none",
    "*",
    "~",
    "-n",
    "é",
    "a\tb",
    "a\nb",
    "${X:-}",
    "!!",
    "#",
)


def _cases(seed: int) -> list[dict[str, str]]:
    chance = random.Random(seed)
    return [_case(chance) for _ in range(CASES)]


def _case(chance: random.Random) -> dict[str, str]:
    found = {
        name: chance.choice(_VALUES) for name in ("CUDA_HOME", "CUDA_VISIBLE_DEVICES", "CUDA_DEVICE_ORDER") if chance.random() < 0.7
    }
    if chance.random() < 0.7:
        found["LD_LIBRARY_PATH"] = ":".join(chance.choices((*_PARTS, ""), k=chance.randint(0, 4)))
    return {**found, "PATH": ":".join(("/usr/bin", *chance.choices(_PARTS, k=chance.randint(0, 4))))}


def _quoted(words: str) -> str:
    return "'" + words.replace("'", "'\\''") + "'"


def _quoted_fish(words: str) -> str:
    return "'" + words.replace("\\", "\\\\").replace("'", "\\'") + "'"


@pytest.mark.parametrize("exported", [True, False])
@pytest.mark.parametrize("shell", ["bash", "dash", pytest.param("zsh", marks=pytest.mark.needs("zsh"))])
def test_every_value_comes_back_in_sh_and_its_kin(shell: str, exported: bool) -> None:
    names = " ".join(("CUDA_HOME", "CUDA_VISIBLE_DEVICES", "CUDA_DEVICE_ORDER", "LD_LIBRARY_PATH"))
    on = b"\n".join(hooks.setting(HELD, exported=exported)).decode()
    off = b"\n".join(hooks.putting_back(LISTS)).decode()
    script = ["set -u", "_gpuassist_key=_GPUASSIST_x_1", f"on () {{\n{on}\n}}", f"off () {{\n{off}\n}}"]
    for case in _cases(7):
        script += [f"unset {names}", *(f"export {name}={_quoted(value)}" for name, value in case.items())]
        script += ["@", "on", "@", "off", "@"]
    _all_came_back(states(shell, "\n".join(script)))


@pytest.mark.needs("fish")
@pytest.mark.parametrize("exported", [True, False])
def test_every_value_comes_back_in_fish(exported: bool) -> None:
    on = b"\n".join(hooks.setting_fish(HELD, exported=exported)).decode()
    off = b"\n".join(hooks.putting_back_fish(LISTS)).decode()
    script = ["set -g _gpuassist_key _GPUASSIST_x_1", f"function on\n{on}\nend", f"function off\n{off}\nend"]
    for case in _cases(11):  # of what a command prints fish makes one value a line: none of these has two
        lists = {name: value for name, value in case.items() if name.endswith("PATH")}
        script += [f"set -e {name}" for name in ("CUDA_HOME", "CUDA_VISIBLE_DEVICES", "CUDA_DEVICE_ORDER", "LD_LIBRARY_PATH")]
        plain = {name: value.replace("\n", " ") for name, value in case.items() if name not in lists}
        script += [f"set -gx {name} {_quoted_fish(value)}" for name, value in plain.items()]
        script += [f"set -gx --path {name} {' '.join(map(_quoted_fish, value.split(':')))}" for name, value in lists.items()]
        script += ["@", "on", "@", "off", "@"]
    _all_came_back(states("fish", "\n".join(script)))


def _all_came_back(found: list[dict[str, str]]) -> None:
    assert len(found) == 3 * CASES
    for place in range(0, len(found), 3):
        before, inside, after = found[place : place + 3]
        assert inside["CUDA_HOME"] == "/opt/cuda"
        assert inside["PATH"] == f"/opt/cuda/bin:{before['PATH']}"
        old = before.get("LD_LIBRARY_PATH", "")
        assert inside["LD_LIBRARY_PATH"] == "/opt/cuda/lib64" + (f":{old}" if old else "")
        assert watched(after) == watched(before)


@pytest.mark.parametrize("shell", ["bash", "dash", pytest.param("zsh", marks=pytest.mark.needs("zsh"))])
def test_what_was_added_to_a_list_in_the_meantime_stays(shell: str) -> None:
    on, off = (b"\n".join(lines).decode() for lines in (hooks.setting(HELD, exported=True), hooks.putting_back(LISTS)))
    added = 'export PATH="/first:$PATH:/last" LD_LIBRARY_PATH="/mine"'
    (after,) = states(shell, f"_gpuassist_key=_GPUASSIST_x_1\n{on}\n{added}\n{off}\n@")
    assert (after["PATH"], after["LD_LIBRARY_PATH"]) == ("/first:/usr/bin:/bin:/last", "/mine")


@pytest.mark.parametrize("shell", ["bash", "dash", pytest.param("zsh", marks=pytest.mark.needs("zsh"))])
def test_what_was_unset_in_the_meantime_is_no_trouble(shell: str) -> None:
    on, off = (b"\n".join(lines).decode() for lines in (hooks.setting(HELD, exported=True), hooks.putting_back(LISTS)))
    script = f"set -eu\n_gpuassist_key=_GPUASSIST_x_1\n{on}\nunset CUDA_HOME LD_LIBRARY_PATH CUDA_VISIBLE_DEVICES\n{off}\n@"
    (after,) = states(shell, script, {"CUDA_HOME": "/mine"})
    assert watched(after) == {"PATH": "/usr/bin:/bin", "CUDA_HOME": "/mine"}


@pytest.mark.parametrize("shell", ["bash", "dash", pytest.param("zsh", marks=pytest.mark.needs("zsh"))])
def test_taking_out_takes_the_first_one_alone(shell: str) -> None:
    lines = b"\n".join(hooks.taking_out("/x", "PATH")).decode()
    (after,) = states(shell, f"PATH=/usr/bin:/x:/bin:/x\n{lines}\n@")
    assert after["PATH"] == "/usr/bin:/bin:/x"
