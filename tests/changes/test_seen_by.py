"""What the table says of who sees a choice, asked of the programs themselves as far as they are here."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from gpuassist.changes.carry_out import carry_out
from gpuassist.changes.devices_plan import plan_use_devices
from gpuassist.changes.scope_plan import plan_in_scope
from gpuassist.changes.scopes.kinds import SEEN, Kind, Sees, ViewingProgram
from gpuassist.changes.wishes import UseDevices
from gpuassist.context import Session
from tests.changes.scoped import furnish, machine, session_at

MATRIX = {
    # terminal, script, cron, command over ssh, IDE, kernel, user service
    Kind.SHELL: "y~n~~~n",
    Kind.CONDA: "~~~~~~~",
    Kind.VENV: "~~~~~~~",
    Kind.ENVRC: "~~~~~~~",
    Kind.DOTENV: "n~~~~~~",
    Kind.JUPYTER: "nnnn~~n",
    Kind.DESKTOP: "~~nn~~~",
}
SIGNS = {Sees.YES: "y", Sees.NO: "n", Sees.DEPENDS: "~"}
SAY = 'printf "%s" "${CUDA_VISIBLE_DEVICES-unset}"'


@pytest.fixture
def chosen(home: Path) -> Session:
    """GPU 1 is chosen in the shell."""
    session = session_at(home)
    carry_out(session.world, plan_use_devices(session.world, machine(home), UseDevices("1")))
    return session


def _asked(home: Path, *command: str, **variables: str) -> str:
    given = {"HOME": str(home), "PATH": "/usr/bin:/bin", "USER": "you", **variables}
    done = subprocess.run(command, env=given, capture_output=True, timeout=100, check=True, stdin=subprocess.DEVNULL)
    return done.stdout.decode()


@pytest.mark.parametrize("kind", Kind)
def test_the_table_says_this(kind: Kind) -> None:
    assert "".join(SIGNS[SEEN[kind][program].sees] for program in ViewingProgram) == MATRIX[kind]


def test_a_script_sees_the_shells_where_a_terminal_starts_it(chosen: Session, home: Path) -> None:
    script = home / "script"
    script.write_text(f"#!/bin/sh\n{SAY}\n")
    script.chmod(0o755)
    assert _asked(home, "bash", "-i", "-c", str(script)) == "1"
    assert _asked(home, str(script)) == "unset"


def test_cron_does_not_see_the_shells(chosen: Session, home: Path) -> None:
    assert _asked(home, "/bin/sh", "-c", SAY, SHELL="/bin/sh", LOGNAME="you") == "unset"
    assert _asked(home, "bash", "-c", SAY, SHLVL="1") == "unset"


def test_most_files_of_bash_return_at_once_where_nobody_types(home: Path) -> None:
    session = session_at(home)
    (home / ".bashrc").write_text("case $- in\n    *i*) ;;\n      *) return;;\nesac\n")
    carry_out(session.world, plan_use_devices(session.world, machine(home), UseDevices("1")))
    assert _asked(home, "bash", "--rcfile", f"{home}/.bashrc", "-i", "-c", SAY) == "1"
    assert _asked(home, "bash", "-c", f". ~/.bashrc; {SAY}") == "unset"


@pytest.mark.needs("zsh")
def test_a_command_over_ssh_does_not_see_zshs(home: Path) -> None:
    session = session_at(home, shell="/usr/bin/zsh")
    carry_out(session.world, plan_use_devices(session.world, machine(home), UseDevices("1")))
    assert (home / ".zshrc").exists()
    assert _asked(home, "zsh", "-i", "-c", SAY) == "1"
    assert _asked(home, "zsh", "-c", SAY) == "unset"


@pytest.mark.needs("fish")
def test_a_command_over_ssh_sees_fishs(home: Path) -> None:
    session = session_at(home, shell="/usr/bin/fish")
    carry_out(session.world, plan_use_devices(session.world, machine(home), UseDevices("1")))
    assert _asked(home, "fish", "-c", "printf %s $CUDA_VISIBLE_DEVICES") == "1"


def test_an_environments_python_alone_reads_nothing(home: Path) -> None:
    session = session_at(furnish(home))
    carry_out(session.world, plan_in_scope(session.world, machine(home), UseDevices("1", scope="venv:~/project/.venv")))
    python = home / "project/.venv/bin/python"
    python.symlink_to(sys.executable)
    assert _asked(home, str(python), "-c", "import os; print(os.environ.get('CUDA_VISIBLE_DEVICES'))") == "None\n"
    assert _asked(home, "bash", "-c", f". {home}/project/.venv/bin/activate; {SAY}") == "1"


def test_no_shell_reads_a_dotenv(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    session = session_at(furnish(home))
    carry_out(session.world, plan_in_scope(session.world, machine(home), UseDevices("1", scope="dotenv:~/project")))
    monkeypatch.chdir(home / "project")
    assert _asked(home, "bash", "-i", "-c", SAY) == "unset"
    assert _asked(home, "bash", "-c", f"set -a; . {home}/project/.env; {SAY}") == "1"
