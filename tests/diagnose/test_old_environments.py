"""Who lives in the old environment, row by row: which process has to be restarted, and what runs in it."""

from __future__ import annotations

from dataclasses import dataclass, field

from gpuassist.diagnose.old_environments import Yardstick, who_is_old
from gpuassist.model.fact import Known, Unknown
from gpuassist.model.old_environment import OldEnvironments, OldProgram, ProgramFamily, RunningProgram, RunningPrograms
from gpuassist.model.shell import Variable
from gpuassist.model.text import text
from gpuassist.system.process_names import script_name
from tests.knowledge.shipped import KNOWLEDGE
from tests.rows import for_each

OLD = {"CUDA_HOME": "/usr/local/cuda-11.7"}
NEW = {"CUDA_HOME": "/usr/local/cuda-12.4"}
CHANGED = 1000.0  # seconds since boot
PTY_HOST = "/home/you/.vscode-server/bin/ee8c/node /home/you/.vscode-server/bin/ee8c/out/bootstrap-fork --type=ptyHost"
CODE = "/usr/share/code/code"


@dataclass
class Machine:
    """Processes as they are put in."""

    programs: list[RunningProgram] = field(default_factory=list)

    def add(
        self,
        pid: int,
        parent: int,
        command: str,
        held: dict[str, str] | None = None,
        *,
        name: str = "",
        started: float = 10.0,
        terminal: bool = False,
    ) -> Machine:
        words = tuple(command.split(" "))
        program = words[0].rpartition("/")[2].removeprefix("-")
        variables = Known(tuple(Variable(*one) for one in (held or {}).items()), f"/proc/{pid}/environ")
        script = script_name(" ".join(words))
        self.programs.append(RunningProgram(pid, parent, name or program[:15], words, script, started, terminal, variables))
        return self

    def shell(self, pid: int, parent: int, held: dict[str, str] | None = None, *, started: float = 10.0) -> Machine:
        return self.add(pid, parent, "-bash", held, started=started, terminal=True)

    def tmux(self, pid: int, held: dict[str, str] | None = None) -> Machine:
        return self.add(pid, 1, "tmux new -s main", held, name="tmux: server")

    def judged(self, *, own: int = 0, since: float = 0.0) -> OldEnvironments:
        running = RunningPrograms(tuple(self.programs), own)
        return who_is_old(running, KNOWLEDGE.resident_programs(), Yardstick(is_old, since, CHANGED))

    def rows(self, *, own: int = 0, since: float = 0.0) -> list[OldProgram]:
        return list(self.judged(own=own, since=since).programs)

    def told(self) -> list[tuple[object, ...]]:
        """Each row as key or name, processes, whether itself, shells, those known by their start alone, kernels, programs."""
        rows = self.rows()
        named = {"", "shell"}
        return [
            (
                one.name if one.key in named else one.key,
                one.pids,
                one.itself,
                one.shells,
                one.shells_before,
                one.kernels,
                one.programs,
            )
            for one in rows
        ]


def is_old(program: RunningProgram, _: ProgramFamily) -> tuple[Variable, ...]:
    held = program.variables.value if isinstance(program.variables, Known) else ()
    return tuple(one for one in held if one.value == OLD.get(one.name))


def server(machine: Machine, held: dict[str, str] | None, *, main: int = 40) -> Machine:
    """VS Code's server as it runs on a host: the server, its extension host and what starts its terminals."""
    home = "/home/you/.vscode-server/bin/ee8c"
    machine.add(main - 1, 1, f"sh {home}/bin/code-server --start-server", held)
    machine.add(main, main - 1, f"{home}/node {home}/out/server-main.js --start-server", held)
    machine.add(main + 1, main, f"{home}/node {home}/out/bootstrap-fork --type=extensionHost", held)
    return machine.add(main + 2, main, PTY_HOST, held)


TREES = [
    # tmux with the old: its panes and what runs in them belong to it
    (
        "a tmux server with the old",
        Machine().tmux(20, OLD).shell(21, 20, OLD).shell(22, 20, OLD).shell(23, 20, OLD).add(24, 23, "vim", OLD, terminal=True),
        [("tmux", (20,), True, 3, 0, 0, 1)],
    ),
    (
        "a tmux server without it, whose panes came up before the change",
        Machine().tmux(20).shell(21, 20).shell(22, 20).shell(23, 20, started=1001.0),
        [("tmux", (20,), False, 2, 2, 0, 0)],
    ),
    (
        "two servers of tmux are two",
        Machine().tmux(20, OLD).shell(21, 20, OLD).tmux(30, OLD).shell(31, 30, OLD),
        [("tmux", (20,), True, 1, 0, 0, 0), ("tmux", (30,), True, 1, 0, 0, 0)],
    ),
    (
        "screen with the old",
        Machine().add(20, 1, "SCREEN -S train", OLD, name="screen").shell(21, 20, OLD),
        [("screen", (20,), True, 1, 0, 0, 0)],
    ),
    (
        "zellij with the old",
        Machine().add(20, 1, "zellij --server /run/user/1000/zellij/0.43.1/main", OLD).shell(21, 20, OLD),
        [("zellij", (20,), True, 1, 0, 0, 0)],
    ),
    # terminals: a shell exports for itself, and only its start tells
    (
        "a terminal whose shells came up before",
        Machine().add(20, 2, "/usr/libexec/gnome-terminal-server", name="gnome-terminal-").shell(21, 20).shell(22, 20),
        [("gnome-terminal", (20,), False, 2, 2, 0, 0)],
    ),
    (
        "a program in such a shell holds the old",
        Machine().add(20, 2, "konsole").shell(21, 20).add(22, 21, "python train.py", OLD, terminal=True),
        [("konsole", (20,), False, 1, 1, 0, 1)],
    ),
    (
        "five windows of one terminal are one row",
        Machine().add(20, 2, "alacritty").shell(21, 20).add(30, 2, "alacritty").shell(31, 30).add(40, 2, "alacritty"),
        [("alacritty", (20, 30), False, 2, 2, 0, 0)],
    ),
    (
        "a terminal that was started with the old",
        Machine().add(20, 1, "kitty", OLD).shell(21, 20, OLD),
        [("kitty", (20,), True, 1, 0, 0, 0)],
    ),
    ("a shell of after the change", Machine().add(20, 2, "konsole").shell(21, 20, started=1001.0), []),
    ("a shell of after the change in the new", Machine().add(20, 2, "kitty", NEW).shell(21, 20, NEW, started=1001.0), []),
    (
        "a script on a terminal is no shell to be opened anew",
        Machine().add(20, 2, "konsole").add(21, 20, "bash ./train.sh", {}, terminal=True),
        [],
    ),
    (
        "VS Code's own start of bash is a shell",
        Machine().add(20, 2, "konsole").add(21, 20, "/usr/bin/bash --init-file /usr/share/code/s.sh", terminal=True),
        [("konsole", (20,), False, 1, 1, 0, 0)],
    ),
    # notebooks
    (
        "Jupyter with the old, and its kernels",
        Machine()
        .add(20, 1, "/v/bin/python /v/bin/jupyter-lab", OLD, name="jupyter-lab")
        .add(21, 20, "/v/bin/python -m ipykernel_launcher -f k.json", OLD)
        .add(22, 20, "/v/bin/python -m ipykernel_launcher -f l.json", OLD),
        [("jupyter", (20,), True, 0, 0, 2, 0)],
    ),
    (
        "a kernel alone, whose server was started since",
        Machine()
        .add(20, 1, "/v/bin/python /v/bin/jupyter-lab", NEW, name="jupyter-lab")
        .add(21, 20, "/v/bin/python -m ipykernel_launcher -f k.json", OLD),
        [("jupyter", (20,), False, 0, 0, 1, 0)],
    ),
    (
        "Jupyter in a terminal of Jupyter is another one",
        Machine()
        .add(20, 1, "/v/bin/python /v/bin/jupyter-lab", OLD, name="jupyter-lab")
        .shell(21, 20, OLD)
        .add(22, 21, "/v/bin/python /v/bin/jupyter-lab", OLD, name="jupyter-lab", terminal=True),
        [("jupyter", (20,), True, 1, 0, 0, 0), ("jupyter", (22,), True, 0, 0, 0, 0)],
    ),
    (
        "Jupyter in tmux is restarted by itself",
        Machine()
        .tmux(20, OLD)
        .shell(21, 20, OLD)
        .add(22, 21, "/v/bin/python /v/bin/jupyter-lab", OLD, name="jupyter-lab", terminal=True)
        .add(23, 22, "/v/bin/python -m ipykernel_launcher -f k.json", OLD),
        [("tmux", (20,), True, 1, 0, 0, 0), ("jupyter", (22,), True, 0, 0, 1, 0)],
    ),
    # editors read a shell's environment once and hand it on: what they hold themselves does not tell
    ("VS Code's server", server(Machine(), OLD).shell(50, 42, OLD), [("vscode-server", (39,), True, 1, 0, 0, 0)]),
    (
        "only the terminals of VS Code's server",
        server(Machine(), {}).shell(50, 42).shell(51, 42, started=1001.0),
        [("vscode-server", (39,), False, 1, 1, 0, 0)],
    ),
    (
        "VS Code of the desktop, which asked a shell",
        Machine()
        .add(20, 2, CODE, name="code")
        .add(21, 20, "/proc/self/exe --type=utility", OLD, name="code")
        .shell(22, 21, OLD)
        .add(23, 21, "/v/bin/python -m ipykernel_launcher -f k.json", OLD),
        [("vscode", (20,), True, 1, 0, 1, 0)],
    ),
    (
        "PyCharm, of which only what it runs tells",
        Machine().add(20, 2, "/opt/pycharm/jbr/bin/java com.intellij.idea.Main").add(21, 20, "/v/bin/python console.py", OLD),
        [("jetbrains", (20,), True, 0, 0, 0, 1)],
    ),
    (
        "a program that a terminal of an editor runs says nothing of the editor",
        Machine().add(20, 2, CODE, name="code").shell(21, 20).add(22, 21, "python train.py", OLD, terminal=True),
        [("vscode", (20,), False, 1, 1, 0, 1)],
    ),
    (
        "Jupyter in a terminal of VS Code's server",
        server(Machine(), OLD)
        .shell(50, 42, OLD)
        .add(51, 50, "/v/bin/python /v/bin/jupyter-lab", OLD, name="jupyter-lab", terminal=True),
        [("jupyter", (51,), True, 0, 0, 0, 0), ("vscode-server", (39,), True, 1, 0, 0, 0)],
    ),
    ("the Emacs daemon", Machine().add(20, 1, "emacs --daemon", OLD), [("emacs-daemon", (20,), True, 0, 0, 0, 0)]),
    # the desktop
    (
        "a desktop session with the old, and what it started",
        Machine()
        .add(2, 1, "/usr/lib/systemd/systemd --user")
        .add(20, 2, "/usr/libexec/gnome-session-binary", OLD, name="gnome-session-b")
        .add(21, 2, "/usr/bin/gnome-shell", OLD)
        .add(22, 2, "/usr/bin/rhythmbox", OLD)
        .add(23, 2, "/usr/libexec/gnome-terminal-server", OLD, name="gnome-terminal-")
        .shell(24, 23, OLD),
        [("desktop", (20, 21), True, 0, 0, 0, 1), ("gnome-terminal", (23,), True, 1, 0, 0, 0)],
    ),
    (
        "a window manager that is the parent of all",
        Machine().add(20, 1, "sway").add(21, 20, "foot", {}).shell(22, 21).add(23, 20, "blender", OLD),
        [("foot", (21,), False, 1, 1, 0, 0), ("blender", (23,), True, 0, 0, 0, 0)],
    ),
    (
        "the manager of the user's services",
        Machine().add(2, 1, "/usr/lib/systemd/systemd --user", OLD).add(20, 2, "/usr/bin/syncthing", OLD),
        [("user-manager", (2,), True, 0, 0, 0, 1)],
    ),
    # sessions, and programs by themselves
    (
        "a session over SSH",
        Machine().shell(20, 19, {"SSH_CONNECTION": "10.0.0.7 50022 10.0.0.1 22"}).add(21, 20, "htop", OLD, terminal=True),
        [("ssh", (20,), False, 1, 1, 0, 1)],
    ),
    ("two text consoles", Machine().shell(20, 5).shell(30, 6), [("bash", (20, 30), False, 2, 2, 0, 0)]),
    (
        "a run that was left behind, with its workers",
        Machine().add(20, 1, "python train.py", OLD).add(21, 20, "python train.py", OLD).add(22, 20, "python train.py", OLD),
        [("train.py", (20,), True, 0, 0, 0, 2)],
    ),
    (
        "Ray, whose workers are its own",
        Machine().add(20, 1, "/p/ray/raylet/raylet --raylet_socket_name=/tmp/r", OLD).add(21, 20, "ray::IDLE", OLD),
        [("ray", (20,), True, 0, 0, 0, 1)],
    ),
    ("agents hand nothing on", Machine().add(20, 1, "ssh-agent -s", OLD).add(21, 1, "gpg-agent --daemon", OLD), []),
    (
        "a container whose own environment it is",
        Machine().add(1, 0, "/usr/bin/tini -- start.sh", OLD).add(20, 1, "python serve.py", OLD).shell(21, 0, OLD),
        [("tini", (1,), True, 0, 0, 0, 1), ("bash", (21,), True, 1, 0, 0, 0)],
    ),
    ("nobody", Machine(), []),
    ("parents in a circle", Machine().add(20, 21, "a", OLD).add(21, 20, "b", OLD), [("a", (20,), True, 0, 0, 0, 1)]),
]


@for_each("situation, machine, rows", TREES)
def test_what_has_to_be_restarted_is_a_row(situation: str, machine: Machine, rows: list[tuple[object, ...]]) -> None:
    assert machine.told() == rows, situation


def test_what_a_row_holds_is_what_is_old_of_it() -> None:
    machine = Machine().tmux(20, {**OLD, "PATH": "/usr/bin"}).shell(21, 20, OLD)
    assert machine.rows()[0].holds == (Variable("CUDA_HOME", "/usr/local/cuda-11.7"),)
    inside = Machine().tmux(20).shell(21, 20).add(22, 21, "vim", OLD, terminal=True)
    assert inside.rows()[0].holds == (Variable("CUDA_HOME", "/usr/local/cuda-11.7"),)


def test_gpuassist_and_what_it_started_are_left_out_and_its_terminal_is_told() -> None:
    machine = Machine().add(20, 2, "konsole").shell(21, 20).add(22, 21, "gpuassist use cuda 12.4", OLD, terminal=True)
    machine.shell(23, 22, OLD).add(24, 23, "nvcc", OLD, terminal=True)
    rows = machine.rows(own=22)
    assert [(one.key, one.shells, one.programs, one.here) for one in rows] == [("konsole", 1, 0, True)]
    assert [one.here for one in machine.tmux(30, OLD).shell(31, 30, OLD).rows(own=22)] == [False, True]


def test_shells_of_before_the_change_that_is_taken_back_are_right_again() -> None:
    machine = Machine().add(20, 2, "konsole").shell(21, 20, started=100.0).shell(22, 20, started=600.0)
    assert [one.shells for one in machine.rows(since=500.0)] == [1]


def test_a_server_that_may_not_be_looked_into_is_named() -> None:
    machine = Machine().tmux(20)
    hidden = Unknown(text("permission denied"))
    machine.programs[0] = RunningProgram(20, 1, "tmux: server", ("tmux",), "tmux", 10.0, on_terminal=False, variables=hidden)
    found = machine.judged()
    assert found.programs == ()
    assert [dict(note.parameters)["pid"] for note in found.notes] == [20]


def test_the_order_is_that_in_which_they_start_each_other() -> None:
    order = list(ProgramFamily)
    machine = Machine().add(2, 1, "/usr/lib/systemd/systemd --user", OLD).add(20, 2, "python train.py", OLD).shell(30, 5)
    machine.add(40, 1, "kitty", OLD).tmux(50, OLD).add(60, 2, "/usr/bin/gnome-shell", OLD).add(70, 1, CODE, OLD, name="code")
    places = [order.index(one.family) for one in machine.rows()]
    assert places == sorted(places)
    assert len(places) > 5
