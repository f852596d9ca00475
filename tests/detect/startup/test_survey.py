"""The table of start-up files of real homes: what each line does, whose it is, whether it holds, and which line wins."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

import pytest
from msgspec.structs import replace

from gpuassist.app import compose
from gpuassist.context import Session
from gpuassist.detect.startup.line import SurveyLine
from gpuassist.detect.startup.survey import Survey, survey
from gpuassist.model.fact import Known, Unknown, value_or
from gpuassist.model.machine import Machine
from gpuassist.model.shell import Command, Shell, StartupFile, Terminal, Variable
from tests.changes.homes import make_toolkit, world_at

SECONDS = 20.0


def _session(home: Path, files: Mapping[str, str], shell: str = "/bin/bash") -> Session:
    for name, content in files.items():
        place = home / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(content)
    world = world_at(home)
    return replace(compose("en"), world=replace(world, surroundings=replace(world.surroundings, login_shell=shell)))


def _survey(home: Path, files: Mapping[str, str], shell: str = "/bin/bash") -> Survey:
    return survey(_session(home, files, shell), seconds=SECONDS)


def _of(found: Survey, home: Path, name: str = ".bashrc") -> dict[int, SurveyLine]:
    return {line.line: line for line in found.lines if line.file == f"{home}/{name}"}


def _holds(lines: Mapping[int, SurveyLine]) -> dict[int, bool | None]:
    return {number: value_or(line.in_effect, None) for number, line in lines.items()}


BASHRC = """case $- in *i*) ;; *) return;; esac
export PATH={home}/cuda-11.7/bin:$PATH
export CUDA_HOME={home}/cuda-11.7
# >>> conda initialize >>>
eval "export PATH=/opt/conda/bin:$PATH"
# <<< conda initialize <<<
if [ -d /nowhere ]; then
  export PATH=/nowhere/bin:$PATH
fi
. ~/.more
use() {{
  PATH={home}/cuda-12.4/bin:$PATH
}}
use
export CUDA_HOME={home}/cuda-12.4
LD_LIBRARY_PATH=/not/exported
module load cuda 2>/dev/null
PATH=/x make 2>/dev/null
"""


@pytest.fixture(name="home")
def _home(tmp_path: Path) -> Path:
    make_toolkit(tmp_path / "cuda-11.7", "11.7.99")
    make_toolkit(tmp_path / "cuda-12.4", "12.4.131")
    return tmp_path


def _surveyed(home: Path) -> Survey:
    return _survey(home, {".bashrc": BASHRC.format(home=home), ".more": "PATH=/more:$PATH\n", ".profile": ". ~/.bashrc\n"})


def test_a_whole_home_in_one_table(home: Path) -> None:
    found = _surveyed(home)
    lines = _of(found, home)
    assert _holds(lines) == {2: True, 3: False, 5: True, 8: False, 12: True, 15: True, 16: False, 17: False, 18: False}
    assert {number: line.wins for number, line in lines.items() if line.wins} == {12: ("PATH",), 15: ("CUDA_HOME",)}
    assert {number: line.owner for number, line in lines.items() if line.owner} == {
        5: "conda initialize",
        17: "environment modules",
    }
    assert [number for number, line in lines.items() if line.changeable] == [2, 3, 8, 12, 15, 16]
    assert lines[8].inside == "if [ -d /nowhere ]; then"
    assert lines[5].contributions[0].elements == ("/opt/conda/bin",)


def test_a_file_that_is_read_in_stands_where_it_is_read(home: Path) -> None:
    found = _surveyed(home)
    places = [(Path(line.file).name, line.line) for line in found.lines if line.file.startswith(str(home))]
    assert places.index((".bashrc", 8)) < places.index((".more", 1)) < places.index((".bashrc", 12))
    more = _of(found, home, ".more")[1]
    assert (more.read_by, more.in_effect, more.changeable) == (
        f"{home}/.bashrc:10",
        Known(True, "the steps of a real new terminal"),
        True,
    )


def test_tells_how_long_a_terminal_takes(home: Path) -> None:
    found = _survey(home, {".bashrc": "export CUDA_HOME=/c\n"})
    assert isinstance(found.seconds, Known)
    assert isinstance(found.terminal, Known)
    assert found.terminal.value.variable("CUDA_HOME") == "/c"


@pytest.mark.parametrize(
    ("rest", "holds", "wins"),
    [
        ("export CUDA_HOME=/d\n", False, ()),
        ("unset CUDA_HOME\n", False, ()),
        ('eval "export CUDA_HOME=/d"\n', False, ()),
        ("CUDA_HOME=/d true\n", True, ("CUDA_HOME",)),
        ("x=$(CUDA_HOME=/d)\n", True, ("CUDA_HOME",)),
        ("f() { CUDA_HOME=/d; }\n", True, ("CUDA_HOME",)),
        ("f() { local CUDA_HOME=/d; true; }; f\n", True, ("CUDA_HOME",)),
        ("", True, ("CUDA_HOME",)),
    ],
)
def test_the_last_line_that_sets_a_variable_wins(tmp_path: Path, rest: str, holds: bool, wins: tuple[str, ...]) -> None:
    line = _of(_survey(tmp_path, {".bashrc": f"export CUDA_HOME=/c\n{rest}"}), tmp_path)[1]
    assert (value_or(line.in_effect, None), line.wins) == (holds, wins)


@pytest.mark.parametrize(
    ("rest", "holds"),
    [
        ("export PATH=/b:$PATH\n", True),
        ("export PATH=$PATH:/b\n", True),
        ("export PATH=/usr/bin:/bin\n", False),
        ("export PATH=/usr/bin:/a:/bin\n", True),
        ("PATH=${PATH#/a:}\n", False),
        ("PATH=/usr/bin ls >/dev/null\n", True),
    ],
)
def test_an_element_of_a_list_holds_until_it_is_lost(tmp_path: Path, rest: str, holds: bool) -> None:
    line = _of(_survey(tmp_path, {".bashrc": f"export PATH=/a:$PATH\n{rest}"}), tmp_path)[1]
    assert value_or(line.in_effect, None) is holds


def test_the_line_that_leads_to_nvcc_wins_the_path(home: Path) -> None:
    content = f"export PATH={home}/cuda-11.7/bin:$PATH\nexport PATH=/nothing:$PATH\n"
    lines = _of(_survey(home, {".bashrc": content}), home)
    assert [line.wins for line in lines.values()] == [("PATH",), ()]


def test_the_first_directory_wins_another_list(tmp_path: Path) -> None:
    content = "export LD_LIBRARY_PATH=/a\nexport LD_LIBRARY_PATH=/b:$LD_LIBRARY_PATH\nexport LD_LIBRARY_PATH=$LD_LIBRARY_PATH:/c\n"
    lines = _of(_survey(tmp_path, {".bashrc": content}), tmp_path)
    assert [line.wins for line in lines.values()] == [(), ("LD_LIBRARY_PATH",), ()]


def test_a_variable_that_is_not_exported_holds_nowhere(tmp_path: Path) -> None:
    line = _of(_survey(tmp_path, {".bashrc": "CUDA_HOME=/c\n"}), tmp_path)[1]
    assert value_or(line.in_effect, None) is False
    assert "not exported" in line.effect.message


def test_a_hidden_login_file_is_told(tmp_path: Path) -> None:
    found = _survey(tmp_path, {".bash_profile": "x=1\n", ".profile": "PATH=/a:$PATH\n", ".bashrc": "x=1\n"})
    assert [one.path for one in found.unread] == [f"{tmp_path}/.profile"]
    assert value_or(_of(found, tmp_path, ".profile")[1].in_effect, None) is False
    assert any("does not read {path} in" in note.message for note in found.notes)


@pytest.mark.needs("zsh")
def test_zsh_is_watched_as_bash_is(tmp_path: Path) -> None:
    files = {
        ".zshenv": "export ZDOTDIR=$HOME/z\n",
        "z/.zshrc": "typeset -U path\npath=(/a $path)\npath=(/nowhere(N) $path)\nexport CUDA_HOME=/c\n. $ZDOTDIR/more\n",
        "z/more": "if [[ -d / ]] { path=(/short $path) }\n",
        ".zshrc": "export CUDA_HOME=/old\n",
    }
    found = _survey(tmp_path, files, "/usr/bin/zsh")
    assert _holds(_of(found, tmp_path, "z/.zshrc")) == {2: True, 3: False, 4: True}
    assert _of(found, tmp_path, "z/more")[1].contributions[0].elements == ("/short",)
    assert [one.path for one in found.unread] == [f"{tmp_path}/.zshrc"]


FISH = """set -gx CUDA_HOME /old
set -gx CUDA_HOME /c
set -gx PATH /a $PATH
if false
  set -gx PATH /b $PATH
end
set -gx PATH (echo /d) $PATH
"""


@pytest.mark.needs("fish")
def test_fish_is_judged_by_what_it_holds(tmp_path: Path) -> None:
    found = _survey(tmp_path, {".config/fish/config.fish": FISH}, "/usr/bin/fish")
    lines = _of(found, tmp_path, ".config/fish/config.fish")
    assert _holds(lines) == {1: False, 2: True, 3: True, 5: False, 7: None}
    assert lines[2].wins == ("CUDA_HOME",)
    assert any("reading alone" in note.message for note in found.notes)


def test_a_terminal_that_hangs_leaves_the_reading(tmp_path: Path) -> None:
    session = _session(tmp_path, {".bashrc": "export CUDA_HOME=/c\nsleep 60\n"})
    found = survey(session, seconds=1.0)
    line = _of(found, tmp_path)[1]
    assert isinstance(line.in_effect, Unknown)
    assert line.contributions[0].elements == ("/c",)
    assert isinstance(found.seconds, Unknown)


def _recorded(content: str | None, terminal: Terminal | None) -> Machine:
    file = StartupFile("/home/else/.bashrc", exists=True)
    if content is not None:
        file = replace(file, content=Known(content, "the recording"))
    shell = Shell(Known("/bin/bash", "x"), Known((file,), "x"))
    return Machine("2026-11-21T09:00:00Z", shell=replace(shell, new_terminal=Known(terminal, "x")) if terminal else shell)


def test_a_recorded_machine_is_read_and_nothing_is_run(tmp_path: Path) -> None:
    terminal = Terminal(
        "/bin/bash", (Variable("CUDA_HOME", "/c"), Variable("PATH", "/c/bin:/usr/bin")), (Command("nvcc", "/c/bin/nvcc", ""),)
    )
    content = "export CUDA_HOME=/c\nexport PATH=/c/bin:$PATH\nexport LD_LIBRARY_PATH=/c/lib64\n"
    session = _session(tmp_path, {".bashrc": "touch ~/was-run\n"})
    found = survey(session, _recorded(content, terminal))
    assert [(value_or(line.in_effect, None), line.wins) for line in found.lines] == [
        (True, ("CUDA_HOME",)),
        (True, ("PATH",)),
        (False, ()),
    ]
    assert not (tmp_path / "was-run").exists()
    assert found.shell == "/bin/bash"


def test_a_recording_without_the_text_says_so(tmp_path: Path) -> None:
    found = survey(_session(tmp_path, {}), _recorded(None, None))
    assert found.lines == ()
    assert [one.path for one in found.unread] == ["/home/else/.bashrc"]


def test_a_machine_that_was_looked_at_is_not_asked_again(tmp_path: Path) -> None:
    session = _session(tmp_path, {".bashrc": "export CUDA_HOME=/c\necho x >> ~/runs\n"})
    files = Known((StartupFile(f"{tmp_path}/.bashrc", exists=True),), "x")
    terminal = Terminal("/bin/bash", (Variable("CUDA_HOME", "/c"),), ())
    found = survey(session, Machine("x", shell=Shell(startup_files=files, new_terminal=Known(terminal, "x"))), seconds=SECONDS)
    assert value_or(_of(found, tmp_path)[1].in_effect, None) is True
    assert (tmp_path / "runs").read_text() == "x\n"


def test_a_strangers_files_are_read_and_not_run(tmp_path: Path) -> None:
    session = _session(tmp_path, {".bashrc": "export CUDA_HOME=/c\ntouch ~/ran\n"})
    around = replace(session.world.surroundings, uid=os.geteuid() + 1)
    found = survey(replace(session, world=replace(session.world, surroundings=around)), seconds=SECONDS)
    line = _of(found, tmp_path)[1]
    assert (value_or(line.in_effect, None), line.changeable) == (None, False)
    assert not (tmp_path / "ran").exists()


def test_gpuassists_own_block_is_named(tmp_path: Path) -> None:
    block = "# >>> gpuassist version=1 change=x added=0 >>>\nexport CUDA_HOME=/c\n# <<< gpuassist <<<\n"
    line = _of(_survey(tmp_path, {".bashrc": block}), tmp_path)[2]
    assert (line.owner, line.changeable) == ("gpuassist", False)


def test_nothing_of_interest_is_an_empty_table(tmp_path: Path) -> None:
    found = _survey(tmp_path, {".bashrc": "alias x=y\n"})
    assert _of(found, tmp_path) == {}


@pytest.mark.needs("fish")
def test_a_universal_variable_of_fish_is_listed(home: Path) -> None:
    written = f"SETUVAR --export CUDA_HOME:/c\nSETUVAR fish_user_paths:{home}/cuda\\x2d12\\x2e4/bin\nSETUVAR LD_LIBRARY_PATH:/q\n"
    found = _survey(home, {".config/fish/fish_variables": f"# VERSION: 3.0\n{written}"}, "/usr/bin/fish")
    # fish writes variables of its own between them when it draws its first prompt.
    lines = _of(found, home, ".config/fish/fish_variables")
    held = {line.variables: (value_or(line.in_effect, None), line.wins) for line in lines.values()}
    assert held == {
        ("CUDA_HOME",): (True, ("CUDA_HOME",)),
        ("PATH",): (True, ("PATH",)),
        ("LD_LIBRARY_PATH",): (False, ()),
    }
    assert {(line.owner, line.changeable) for line in lines.values()} == {("fish", False)}


def test_what_others_could_write_is_warned_of(home: Path) -> None:
    session = _session(home, {".bashrc": "export CUDA_HOME=/c\n"})
    assert not any("may write" in session.words(note) for note in survey(session, seconds=SECONDS).notes)
    (home / ".bashrc").chmod(0o666)
    home.chmod(0o777)
    said = [session.words(note) for note in survey(session, seconds=SECONDS).notes]
    assert [note.partition(":")[0] for note in said[:2]] == [str(home), f"{home}/.bashrc"]
