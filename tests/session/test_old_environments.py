"""Who still lives in the old environment: made-up /proc trees after each kind of change, and real servers and shells."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest
from msgspec.structs import replace

from gpuassist.changes.choice import Devices
from gpuassist.changes.library_path import LoaderChoice
from gpuassist.changes.plan import ChangeOutcome, ChangePlan, Expected, Proof, ScopeChoice, ToolkitChoice
from gpuassist.changes.scope_find import Scope
from gpuassist.changes.scopes.kinds import Kind
from gpuassist.changes.scopes.values import ScopeValues, block_lines
from gpuassist.changes.shells import ShellChange, ShellSeen
from gpuassist.changes.undo import plan_undo, undo
from gpuassist.changes.wishes import CleanShell, UseCuda, UseDevices
from gpuassist.context import Session
from gpuassist.model.fact import Known, Unknown
from gpuassist.model.old_environment import OldEnvironments
from gpuassist.model.plan import FileEdit, Outcome, Plan, Receipt, Result, Step, StepKind
from gpuassist.model.shell import Terminal, Variable
from gpuassist.model.text import text
from gpuassist.model.toolkit import Toolkit
from gpuassist.model.words import ENGLISH
from gpuassist.session.old_environments import after_change, after_undo, beside_terminal
from gpuassist.shellfiles.dialect import Dialect
from gpuassist.shellfiles.edit import LineChanges, write
from gpuassist.system.terminal import Opening
from tests.changes.homes import choose, world_at
from tests.fakes import link, put, world_under
from tests.values import knowledge
from tests.waiting import until

OLD, NEW = "/usr/local/cuda-11.7", "/usr/local/cuda-12.4"
BIN = "/usr/bin:/bin"
HELD_OLD = {"PATH": f"{OLD}/bin:{BIN}", "CUDA_HOME": OLD}
HELD_NEW = {"PATH": f"{NEW}/bin:{BIN}", "CUDA_HOME": NEW}
TERMINAL = Terminal("/bin/bash", tuple(Variable(*one) for one in HELD_NEW.items()), ())
BOOT_SECONDS = 100.0  # what the clock of `world_under` says


def process(
    root: Path,
    pid: int,
    command: str,
    held: Mapping[str, str] | bytes,
    *,
    parent: int = 1,
    name: str = "",
    started: float = 10.0,
    terminal: int = 0,
) -> None:
    """A process as /proc shows one."""
    program = name or command.split(" ")[0].rpartition("/")[2].removeprefix("-")[:15]
    ticks = int(started * os.sysconf("SC_CLK_TCK"))
    put(root, f"/proc/{pid}/stat", f"{pid} ({program}) S {parent} 7 7 {terminal} -1 4194304 0 0 0 0 0 0 0 0 20 0 1 0 {ticks} 0 0\n")
    put(root, f"/proc/{pid}/cmdline", command.replace(" ", "\0") + "\0")
    environment = held if isinstance(held, bytes) else b"".join(f"{key}={value}\0".encode() for key, value in held.items())
    put(root, f"/proc/{pid}/environ", environment)


def session_under(root: Path, **variables: str) -> Session:
    world = world_under(root, variables={"PATH": BIN, **variables})
    return Session(replace(world, surroundings=replace(world.surroundings, uid=os.getuid())), knowledge(), ENGLISH)


def receipt(made_at: str = "2026-11-21T09:00:00.000+00:00", undone_at: str = "") -> Receipt:
    return Receipt("x", made_at, "use cuda", "/home/you/.bashrc", "/home/you/.bashrc", True, "", "", undone_at)


def made(proof: Proof | None, *shells: ShellChange) -> ChangeOutcome:
    return ChangeOutcome(Outcome(Result.MODIFIED, text("done")), (receipt(),), proof=proof, shells=shells)


def proved(terminal: Terminal = TERMINAL) -> Proof:
    return Proof(Known(value=True, source="x"), text("ok"), Known(terminal, "x"))


def cuda() -> ChangePlan:
    wish = UseCuda("12.4")
    choice = ToolkitChoice(wish, Toolkit(NEW), LoaderChoice(False, text("x")), Expected(f"{NEW}/bin/nvcc", NEW, ""), Dialect.BASH)
    return ChangePlan(wish, Plan("x", text("x"), ()), "use cuda 12.4", cuda=choice)


def devices(before: bytes = b"") -> ChangePlan:
    edit = FileEdit("/home/you/.bashrc", "/home/you/.bashrc", before, b"", True, "bash", None)
    step = Step(StepKind.EDIT, text("x"), edit=edit)
    return ChangePlan(UseDevices("1"), Plan("x", text("x"), (step,)), "use devices 1", devices=Devices(("1",)))


def keys(found: OldEnvironments | None) -> list[str]:
    assert found is not None
    return [one.key or one.name for one in found.programs]


# After `use cuda`


def test_who_holds_the_old_toolkit_is_told_with_what_and_who_has_the_new_is_not(tmp_path: Path) -> None:
    process(tmp_path, 20, "/v/bin/python /v/bin/jupyter-lab", HELD_OLD, name="jupyter-lab")
    process(tmp_path, 30, "emacs --daemon", HELD_NEW)
    process(tmp_path, 40, "python serve.py", {"PATH": BIN})
    found = after_change(session_under(tmp_path), cuda(), made(proved()))
    assert keys(found) == ["jupyter"]
    assert found is not None
    assert {(one.name, one.value) for one in found.programs[0].holds} == {("PATH", f"{OLD}/bin"), ("CUDA_HOME", OLD)}
    assert found.programs[0].how is not None


def test_a_list_counts_by_the_toolkit_that_stands_first(tmp_path: Path) -> None:
    process(tmp_path, 20, "python a.py", {"PATH": f"{NEW}/bin:{OLD}/bin:{BIN}"})
    process(tmp_path, 30, "python b.py", {"PATH": f"{OLD}/bin:{NEW}/bin:{BIN}"})
    assert keys(after_change(session_under(tmp_path), cuda(), made(proved()))) == ["b.py"]


def test_a_link_leads_where_it_leads_now(tmp_path: Path) -> None:
    put(tmp_path, f"{NEW}/bin/nvcc")
    link(tmp_path, "/usr/local/cuda", "cuda-12.4")
    process(tmp_path, 20, "python a.py", {"CUDA_HOME": "/usr/local/cuda", "PATH": f"/usr/local/cuda/bin:{BIN}"})
    assert keys(after_change(session_under(tmp_path), cuda(), made(proved()))) == []


def test_a_toolkit_is_known_by_its_nvcc_wherever_it_lies_and_an_environment_is_none(tmp_path: Path) -> None:
    put(tmp_path, "/apps/gcc13/cudatk/bin/nvcc")
    put(tmp_path, "/home/you/env/bin/nvcc")
    put(tmp_path, "/home/you/env/conda-meta/history")
    process(tmp_path, 20, "python a.py", {"PATH": f"/apps/gcc13/cudatk/bin:{BIN}"})
    process(tmp_path, 30, "python b.py", {"PATH": f"/home/you/env/bin:{BIN}", "CUDA_HOME": "/home/you/env"})
    assert keys(after_change(session_under(tmp_path), cuda(), made(proved()))) == ["a.py"]


def test_what_the_desktop_would_start_with_it_now_too_is_not_old(tmp_path: Path) -> None:
    process(tmp_path, 20, "/usr/bin/gnome-shell", HELD_OLD)
    process(tmp_path, 30, "python a.py", HELD_OLD)
    old = Terminal("/bin/bash", tuple(Variable(*one) for one in HELD_OLD.items()), ())
    seen = ShellSeen(Opening.DESKTOP, Known(old, "x"), 0.1)
    session = session_under(tmp_path)
    assert keys(after_change(session, cuda(), made(proved(), ShellChange(seen, seen, ())))) == ["a.py"]
    assert keys(after_change(session, cuda(), made(proved()))) == ["desktop"]


def test_shells_that_came_up_before_the_change_are_told_by_their_start(tmp_path: Path) -> None:
    process(tmp_path, 20, "/usr/bin/konsole", {"PATH": BIN})
    process(tmp_path, 21, "-bash", {"PATH": BIN}, parent=20, terminal=34816)
    process(tmp_path, 22, "-bash", {"PATH": BIN}, parent=20, terminal=34817, started=BOOT_SECONDS + 1)
    found = after_change(session_under(tmp_path), cuda(), made(proved()))
    assert found is not None
    assert [(one.key, one.shells, one.shells_before, one.holds) for one in found.programs] == [("konsole", 1, 1, ())]


@pytest.mark.parametrize("moment", ["", "yesterday", "1970-01-01T00:00:00+00:00", "2999-01-01T00:00:00+00:00"])
def test_a_clock_that_was_set_tells_nothing_of_shells(moment: str, tmp_path: Path) -> None:
    process(tmp_path, 21, "-bash", {"PATH": BIN}, terminal=34816)
    outcome = replace(made(proved()), receipts=(receipt(moment),))
    assert keys(after_change(session_under(tmp_path), cuda(), outcome)) == []


def test_a_change_that_does_not_stand_leaves_nobody_behind(tmp_path: Path) -> None:
    process(tmp_path, 20, "python a.py", HELD_OLD)
    session = session_under(tmp_path)
    assert after_change(session, cuda(), replace(made(proved()), rolled_back=text("x"))) is None
    assert after_change(session, cuda(), replace(made(proved()), outcome=Outcome(Result.REFUSED, text("x")))) is None
    assert after_change(session, replace(cuda(), recorded=True), made(proved())) is None


def test_without_a_terminal_to_compare_with_that_is_said(tmp_path: Path) -> None:
    unknown = Proof(Unknown(text("x")), text("x"), Unknown(text("x")))
    found = after_change(session_under(tmp_path), cuda(), made(unknown))
    assert found is not None
    assert not found.programs
    assert found.notes


def test_what_was_chosen_for_an_environment_or_a_kernel_is_right_there(tmp_path: Path) -> None:
    chosen = ScopeValues("/opt/tk/cuda-11.8")
    block = block_lines(chosen, b"export CUDA_HOME=/opt/tk/cuda-11.8")
    put(tmp_path, "/e/bin/activate", write(b"# mine\n", block, LineChanges(), "20261121-090000-abcdef"))
    put(tmp_path, "/v/share/jupyter/kernels/train/kernel.json", json.dumps({"argv": [], "env": {"CUDA_HOME": chosen.toolkit}}))
    held = {"CUDA_HOME": chosen.toolkit}
    process(tmp_path, 20, "python a.py", {**held, "VIRTUAL_ENV": "/e"})
    process(tmp_path, 30, "python b.py", {**held, "VIRTUAL_ENV": "/other"})
    process(tmp_path, 40, "/v/bin/python -m ipykernel_launcher -f k.json", held)
    process(tmp_path, 50, "/w/bin/python -m ipykernel_launcher -f k.json", held)
    found = after_change(session_under(tmp_path), cuda(), made(proved()))
    assert found is not None
    assert sorted(one.pids for one in found.programs) == [(30,), (50,)]


# After the others


def test_devices_as_they_were_chosen_before_and_programs_that_see_all(tmp_path: Path) -> None:
    typed = {"TERM": "xterm-256color", "SHLVL": "1"}
    process(tmp_path, 20, "/v/bin/python /v/bin/jupyter-lab", {"CUDA_VISIBLE_DEVICES": "0"}, name="jupyter-lab")
    process(tmp_path, 30, "python train.py", {"CUDA_VISIBLE_DEVICES": "3", **typed})
    process(tmp_path, 40, "/v/bin/python /v/bin/jupyter-lab", typed, name="jupyter-lab")
    process(tmp_path, 50, "/usr/bin/gnome-shell", {})
    process(tmp_path, 60, "/v/bin/python /v/bin/jupyter-lab", {"CUDA_VISIBLE_DEVICES": "1"}, name="jupyter-lab")
    process(tmp_path, 70, "python eval.py", {"CUDA_VISIBLE_DEVICES": "2"})
    terminal = Terminal("/bin/bash", (Variable("CUDA_VISIBLE_DEVICES", "1"),), ())
    session = session_under(tmp_path, CUDA_VISIBLE_DEVICES="2")
    found = after_change(session, devices(b"export CUDA_VISIBLE_DEVICES=0\n"), made(proved(terminal)))
    assert found is not None
    assert [(one.pids, one.holds) for one in found.programs] == [
        ((20,), (Variable("CUDA_VISIBLE_DEVICES", "0"),)),
        ((40,), (Variable("CUDA_VISIBLE_DEVICES", ""),)),
        ((70,), (Variable("CUDA_VISIBLE_DEVICES", "2"),)),
    ]


def test_what_was_cleaned_out_of_lists(tmp_path: Path) -> None:
    now = Terminal("/bin/bash", (Variable("LD_LIBRARY_PATH", "/opt/cuda/lib64/stubs:/opt/x"), Variable("PATH", BIN)), ())
    after = Terminal("/bin/bash", (Variable("LD_LIBRARY_PATH", "/opt/x"), Variable("PATH", BIN)), ())
    process(tmp_path, 20, "python a.py", {"LD_LIBRARY_PATH": "/opt/x:/opt/cuda/lib64/stubs"})
    process(tmp_path, 30, "python b.py", {"LD_LIBRARY_PATH": "/opt/x"})
    plan = ChangePlan(CleanShell(), Plan("x", text("x"), ()), "shell --clean", now=Known(now, "x"))
    found = after_change(session_under(tmp_path), plan, made(proved(after)))
    assert keys(found) == ["a.py"]
    assert found is not None
    assert found.programs[0].holds == (Variable("LD_LIBRARY_PATH", "/opt/cuda/lib64/stubs"),)
    assert keys(after_change(session_under(tmp_path), plan, made(proved(now)))) == []


@pytest.mark.parametrize(
    ("kind", "sign", "value"),
    [(Kind.CONDA, "CONDA_PREFIX", "/e"), (Kind.VENV, "VIRTUAL_ENV", "/e"), (Kind.ENVRC, "DIRENV_DIR", "-/e")],
)
def test_a_scope_concerns_what_runs_in_it_alone(kind: Kind, sign: str, value: str, tmp_path: Path) -> None:
    process(tmp_path, 20, "/v/bin/python /v/bin/jupyter-lab", {sign: value, "CUDA_HOME": OLD}, name="jupyter-lab")
    process(tmp_path, 30, "python a.py", {sign: value, "CUDA_HOME": NEW})
    process(tmp_path, 40, "python b.py", {"CUDA_HOME": OLD})
    process(tmp_path, 50, "python c.py", {sign: value})
    scope = Scope(kind, f"{kind.value}:/e", "/e")
    plan = replace(cuda(), cuda=None, scope=ScopeChoice(scope, ScopeValues(NEW), Toolkit(NEW)))
    assert keys(after_change(session_under(tmp_path), plan, made(None))) == ["jupyter", "c.py"]


def test_a_scope_that_leaves_no_sign_is_not_looked_for(tmp_path: Path) -> None:
    for kind in (Kind.DOTENV, Kind.JUPYTER, Kind.DESKTOP):
        plan = replace(cuda(), cuda=None, scope=ScopeChoice(Scope(kind, "x", "/e"), ScopeValues(NEW), Toolkit(NEW)))
        assert after_change(session_under(tmp_path), plan, made(None)) is None


def test_after_an_undo_who_has_what_was_taken_back(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    world = world_at(home)
    (home / ".bashrc").write_text("# mine\n")
    choose(world, "12.4.131")
    taking = plan_undo(world)
    undo(world)
    root = str(home / "cuda-12.4")
    process(tmp_path, 20, "/v/bin/python /v/bin/jupyter-lab", {"PATH": f"{root}/bin:{BIN}"}, name="jupyter-lab")
    process(tmp_path, 30, "python a.py", {"CUDA_HOME": root})
    process(tmp_path, 40, "python b.py", HELD_OLD)
    session = session_under(tmp_path)
    assert keys(after_undo(session, (taking,))) == ["jupyter", "a.py"]
    nothing = replace(taking, files=tuple(replace(file, edit=None) for file in taking.files))
    assert keys(after_undo(session, (nothing,))) == []


def test_at_any_time_who_finds_another_toolkit_than_a_new_terminal(tmp_path: Path) -> None:
    process(tmp_path, 20, "/v/bin/python /v/bin/jupyter-lab", HELD_OLD, name="jupyter-lab")
    process(tmp_path, 21, "-bash", {"PATH": BIN}, terminal=34816)
    session = session_under(tmp_path)
    assert keys(beside_terminal(session, Known(TERMINAL, "x"))) == ["jupyter"]
    assert beside_terminal(session, Unknown(text("x"))).notes


# What stands in the way


def test_hostile_processes_are_passed_over(tmp_path: Path) -> None:
    process(tmp_path, 20, "python a.py", HELD_OLD)
    process(tmp_path, 30, "x", b"CUDA_HOME")
    process(tmp_path, 31, "x", b"\xff\xfe\0=\0CUDA_HOME=\xff\xfe/cuda-11.7\0" + b"PATH=" + b"/" * 200_000)
    process(tmp_path, 32, "", b"")
    process(tmp_path, 33, "a\x1b[31m " * 5000, HELD_OLD)
    put(tmp_path, "/proc/34/stat", "34 (x")
    put(tmp_path, "/proc/35/stat", "35 (x) S a b c d e f g h i j k l m n o p q r s t u v\n")
    put(tmp_path, "/proc/36/stat", "36 (x) Z 1 7 7 0 -1 4194304 0 0 0 0 0 0 0 0 20 0 1 0 1 0 0\n")
    put(tmp_path, "/proc/37/stat", "37 (x) S 2 0 0 0 -1 2129984 0 0 0 0 0 0 0 0 20 0 1 0 1 0 0\n")
    put(tmp_path, "/proc/38/environ", b"CUDA_HOME=/usr/local/cuda-11.7\0")
    (tmp_path / "proc" / "99999999999999999999").mkdir()
    found = after_change(session_under(tmp_path), cuda(), made(proved()))
    assert found is not None
    assert found.programs[0].pids == (20,)
    assert {pid for one in found.programs for pid in one.pids} <= {20, 31, 33}


def test_other_users_programs_are_never_looked_at(tmp_path: Path) -> None:
    process(tmp_path, 20, "python a.py", HELD_OLD)
    session = session_under(tmp_path)
    stranger = replace(session.world.surroundings, uid=os.getuid() + 1)
    other = Session(replace(session.world, surroundings=stranger), session.knowledge, ENGLISH)
    assert keys(after_change(other, cuda(), made(proved()))) == []


def test_root_tells_by_the_status_whose_a_program_is(tmp_path: Path) -> None:
    process(tmp_path, 20, "python a.py", HELD_OLD)
    put(tmp_path, "/proc/20/status", "Name:\tpython\nUid:\t1000\t1000\t1000\t1000\n")
    process(tmp_path, 30, "python b.py", HELD_OLD)
    put(tmp_path, "/proc/30/status", "Name:\tpython\nUid:\t0\t0\t0\t0\n")
    world = session_under(tmp_path).world
    if os.getuid() != 0:
        pytest.skip("NOT RUN: needs root, whose directories these have to be")
    assert keys(after_change(Session(world, knowledge(), ENGLISH), cuda(), made(proved()))) == ["b.py"]


def test_what_runs_in_another_container_is_none_of_ours(tmp_path: Path) -> None:
    link(tmp_path, "/proc/self/ns/pid", "pid:[4026531836]")
    for pid, namespace in ((20, "pid:[4026531836]"), (30, "pid:[4026532999]")):
        process(tmp_path, pid, f"python {pid}.py", HELD_OLD)
        link(tmp_path, f"/proc/{pid}/ns/pid", namespace)
    assert keys(after_change(session_under(tmp_path), cuda(), made(proved()))) == ["20.py"]


def test_no_processes_and_too_many_are_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = after_change(session_under(tmp_path), cuda(), made(proved()))
    assert found is not None
    assert len(found.notes) == 1
    for pid in range(20, 30):
        process(tmp_path, pid, f"python {pid}.py", HELD_OLD)
    monkeypatch.setattr("gpuassist.detect.old_environments.AT_MOST", 4)
    cut = after_change(session_under(tmp_path), cuda(), made(proved()))
    assert cut is not None
    assert len(cut.programs) == 4
    assert dict(cut.notes[0].parameters) == {"count": 4, "every": 10}


# Real ones


@pytest.fixture
def old(tmp_path: Path) -> dict[str, str]:
    """The environment of before, with a place for sockets that is short enough for one."""
    return {
        "PATH": f"{tmp_path}/cuda-11.7/bin:{BIN}",
        "CUDA_HOME": f"{tmp_path}/cuda-11.7",
        "TERM": "xterm",
        "LC_ALL": "C.UTF-8",
        "SHELL": "/bin/sh",
    }


@pytest.mark.needs("tmux")
def test_a_real_tmux_server_is_found_and_its_lines_change_what_new_windows_hold(old: dict[str, str], tmp_path: Path) -> None:
    socket = tmp_path / "s"
    tmux = ("tmux", "-S", str(socket), "-f", "/dev/null")
    started = subprocess.run((*tmux, "new-session", "-d", "sh"), env={**old, "HOME": str(tmp_path)}, check=False)
    assert started.returncode == 0
    try:
        shown, pane = subprocess.run(
            (*tmux, "display", "-p", "#{pid} #{pane_pid}"), capture_output=True, text=True, check=True
        ).stdout.split()
        # Until it is what it becomes, it is a copy of the server.
        assert until(lambda: b"TMUX=" in Path(f"/proc/{pane}/environ").read_bytes())
        session = Session(world_at(tmp_path), knowledge(), ENGLISH)
        rows = beside_terminal(session, Known(TERMINAL, "x")).programs
        row = next(one for one in rows if one.pids == (int(shown),))
        assert (row.key, row.itself) == ("tmux", True)
        assert {one.name for one in row.holds} == {"PATH", "CUDA_HOME"}
        for line in row.commands:
            subprocess.run(("sh", "-c", line), check=True)
        left = subprocess.run((*tmux, "show-environment", "-g"), capture_output=True, text=True, check=True).stdout.splitlines()
        assert f"PATH={BIN}" in left
        assert not [one for one in left if one.startswith("CUDA_HOME")]
    finally:
        subprocess.run((*tmux, "kill-server"), check=False)


@pytest.mark.needs("bash")
def test_a_real_shell_with_the_old_is_found_and_ours_is_not(old: dict[str, str], tmp_path: Path) -> None:
    with subprocess.Popen(("bash", "--norc", "-c", "echo up; read line; :"), env=old, stdin=-1, stdout=-1) as shell:
        assert shell.stdout is not None
        assert shell.stdout.readline() == b"up\n"
        session = Session(world_at(tmp_path), knowledge(), ENGLISH)
        rows = beside_terminal(session, Known(TERMINAL, "x")).programs
        # It is gpuassist's own child here, which is no business of anybody's.
        assert not [one for one in rows if shell.pid in one.pids or os.getpid() in one.pids]
        shell.communicate(b"\n")


def test_to_source_the_file_takes_nothing_out(tmp_path: Path) -> None:
    (tmp_path / ".bashrc").write_text("")
    world = world_at(tmp_path)
    choose(world, "12.4.131")
    held = {"PATH": f"/opt/cuda-11.7/bin:{BIN}", "LD_LIBRARY_PATH": "/opt/cuda-11.7/lib64", "CUDA_PATH": "/opt/cuda-11.7"}
    script = f". {tmp_path}/.bashrc; env -0"
    done = subprocess.run(
        ("/bin/bash", "--norc", "-c", script), env={**held, "HOME": str(tmp_path)}, capture_output=True, check=True
    )
    after = dict(one.split("=", 1) for one in done.stdout.decode().split("\0") if "=" in one)
    assert after["PATH"] == f"{tmp_path}/cuda-12.4/bin:/opt/cuda-11.7/bin:{BIN}"
    assert after["LD_LIBRARY_PATH"] == held["LD_LIBRARY_PATH"]
    assert after["CUDA_PATH"] == held["CUDA_PATH"]
