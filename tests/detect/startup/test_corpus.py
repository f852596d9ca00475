"""The corpus of start-up files in real shells: no line changes a variable that the reading does not name."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from gpuassist.app import compose
from gpuassist.detect.startup.survey import Survey, survey
from gpuassist.model.fact import Known, value_or
from tests.changes.homes import make_toolkit, world_at

CASES = Path(__file__).parents[2] / "cases" / "shell"


def _survey(home: Path, case: str, name: str, shell: str) -> Survey:
    content = (CASES / case).read_text()
    # The toolkits of the corpus lie below the made-up home, so that the branches that ask for them are taken.
    content = content.replace("/usr/local/cuda-", f"{home}/cuda-").replace("/opt/cuda", f"{home}/cuda-10.2")
    content = content.replace("&& compinit", "")  # it takes 66,000 steps where it has no dump of its own
    place = home / name
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(content)
    for version in ("10.2", "11.7", "11.8", "12.1"):
        if not (home / f"cuda-{version}").exists():
            make_toolkit(home / f"cuda-{version}", f"{version}.99")
    world = world_at(home)
    world = replace(world, surroundings=replace(world.surroundings, login_shell=shell))
    return survey(replace(compose("en"), world=world), seconds=30)


BASH = ("workstation.bashrc", "cluster.bashrc", "framework.bashrc")


@pytest.mark.parametrize("case", BASH)
def test_bash_changes_nothing_that_the_reading_does_not_name(tmp_path: Path, case: str) -> None:
    found = _survey(tmp_path, case, ".bashrc", "/bin/bash")
    own = [line for line in found.lines if line.file == f"{tmp_path}/.bashrc"]
    unnamed = [line.line for line in own if line.why.message.startswith("the line itself does not say")]
    # `add_to_path` of the framework's file is a function whose line the reading names; only an eval may set what no line says.
    assert [number for number in unnamed if "eval" not in (CASES / case).read_text().splitlines()[number - 1]] == []
    assert all(isinstance(line.in_effect, Known) for line in own)


@pytest.mark.parametrize(
    ("case", "wins"),
    [
        (
            "workstation.bashrc",
            {58: ("PATH",), 57: ("CUDA_HOME",), 59: ("LD_LIBRARY_PATH",), 60: ("CPATH",), 61: ("LIBRARY_PATH",)},
        ),
        ("cluster.bashrc", {61: ("PATH",), 66: ("CUDA_HOME",), 69: ("CPLUS_INCLUDE_PATH",)}),
        ("framework.bashrc", {50: ("CUDA_HOME",), 80: ("PATH", "LD_LIBRARY_PATH")}),
    ],
)
def test_bash_says_which_line_wins(tmp_path: Path, case: str, wins: dict[int, tuple[str, ...]]) -> None:
    found = _survey(tmp_path, case, ".bashrc", "/bin/bash")
    said = {line.line: line.wins for line in found.lines if line.file == f"{tmp_path}/.bashrc" and line.wins}
    assert {number: said.get(number, ()) for number in wins} == wins


@pytest.mark.needs("zsh")
def test_zsh_changes_nothing_that_the_reading_does_not_name(tmp_path: Path) -> None:
    found = _survey(tmp_path, "framework.zshrc", ".zshrc", "/usr/bin/zsh")
    own = {line.line: line for line in found.lines if line.file == f"{tmp_path}/.zshrc"}
    assert not any(line.why.message.startswith("the line itself does not say") for line in own.values())
    assert [number for number, line in own.items() if value_or(line.in_effect, None)] == [7, 16, 17, 18, 20, 27, 41, 58]
    assert own[41].wins == ("PATH",)


@pytest.mark.needs("zsh")
def test_zsh_finds_its_files_where_the_first_one_says(tmp_path: Path) -> None:
    found = _survey(tmp_path, "plain.zshenv", ".zshenv", "/usr/bin/zsh")
    own = {line.line: line for line in found.lines if line.file == f"{tmp_path}/.zshenv"}
    assert own[2].wins == ("CUDA_HOME",)
    assert own[3].wins == ("PATH",)


@pytest.mark.needs("fish")
def test_fish_is_told_from_what_it_holds(tmp_path: Path) -> None:
    found = _survey(tmp_path, "plain.fish", ".config/fish/config.fish", "/usr/bin/fish")
    own = {line.line: line for line in found.lines if line.file == f"{tmp_path}/.config/fish/config.fish"}
    assert value_or(own[8].in_effect, None) is False
    assert own[16].wins == ("CUDA_HOME",)
    assert own[15].wins == ("PATH",)
    assert own[53].wins == ("CUDA_VISIBLE_DEVICES", "CUDA_DEVICE_ORDER")
