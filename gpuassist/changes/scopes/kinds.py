"""The kinds of scopes, and which programs see what is chosen in each: the one table that the command line and the window show."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum

from gpuassist.model.text import Text, text


class Kind(str, Enum):
    """Where a choice holds; the value is what stands in front of the colon on the command line."""

    SHELL = "shell"
    CONDA = "conda"
    VENV = "venv"
    ENVRC = "envrc"
    DOTENV = "dotenv"
    JUPYTER = "jupyter"
    DESKTOP = "desktop"


class Program(str, Enum):
    """Who might see a choice."""

    TERMINAL = "terminal"
    SCRIPT = "script"
    CRON = "cron"
    SSH_COMMAND = "ssh-command"
    LAUNCHER = "launcher"
    KERNEL = "jupyter-kernel"
    SERVICE = "user-service"


class Sees(str, Enum):
    """Whether a program sees it."""

    YES = "yes"
    NO = "no"
    DEPENDS = "depends"


@dataclass(frozen=True, slots=True)
class Sight:
    """Whether, and when or why not."""

    sees: Sees
    when: Text | None = None


TITLES: Mapping[Kind, Text] = {
    Kind.SHELL: text("every new terminal, by the start-up file of your shell"),
    Kind.CONDA: text("one conda environment, while it is active"),
    Kind.VENV: text("one virtual environment, while it is active"),
    Kind.ENVRC: text("one project, by direnv's .envrc"),
    Kind.DOTENV: text("one project, by its .env"),
    Kind.JUPYTER: text("one Jupyter kernel"),
    Kind.DESKTOP: text("everything that your desktop session starts"),
}

PROGRAMS: Mapping[Program, Text] = {
    Program.TERMINAL: text("a new terminal"),
    Program.SCRIPT: text("a script"),
    Program.CRON: text("a cron job"),
    Program.SSH_COMMAND: text("a command over ssh"),
    Program.LAUNCHER: text("an IDE started from the launcher"),
    Program.KERNEL: text("a Jupyter kernel"),
    Program.SERVICE: text("a systemd user service"),
}


def _when(words: Text) -> Sight:
    return Sight(Sees.DEPENDS, words)


_YES, _NO = Sight(Sees.YES), Sight(Sees.NO)
_CONDA_RUN = _when(text("where it activates the environment, or runs through `conda run`"))
_ACTIVATE = _when(text("where it sources bin/activate; the environment's python alone reads nothing of it"))
_DIRENV_EXEC = _when(text("where it runs through `direnv exec DIR`"))
_READS_IT = _when(text("where the program reads .env itself, or is started by one that does (docker compose, uv run --env-file)"))
_SESSION = _when(text("where systemd starts the desktop session, as with GNOME and Plasma; after the next login"))

SEEN: Mapping[Kind, Mapping[Program, Sight]] = {
    Kind.SHELL: {
        Program.TERMINAL: _YES,
        Program.SCRIPT: _when(text("where a terminal starts it")),
        Program.CRON: _NO,
        Program.SSH_COMMAND: _when(
            text(
                "fish reads its files there; bash reads .bashrc, but most of these return at once where nobody types; zsh does not"
            )
        ),
        Program.LAUNCHER: _when(text("the terminals in it do; the program itself where it asks a login shell, as VS Code does")),
        Program.KERNEL: _when(text("where the Jupyter server was started in a terminal")),
        Program.SERVICE: _NO,
    },
    Kind.CONDA: {
        Program.TERMINAL: _when(text("after `conda activate`")),
        Program.SCRIPT: _when(text("where its terminal or the script itself activates the environment, or `conda run` starts it")),
        Program.CRON: _CONDA_RUN,
        Program.SSH_COMMAND: _CONDA_RUN,
        Program.LAUNCHER: _when(text("where it activates the environment for what it runs, as VS Code does in its terminals")),
        Program.KERNEL: _when(
            text("where the Jupyter server was started with it active: a kernel is started by its python's path, and no hook runs")
        ),
        Program.SERVICE: _CONDA_RUN,
    },
    Kind.VENV: {
        Program.TERMINAL: _when(text("after its bin/activate was sourced")),
        Program.SCRIPT: _when(text("where its terminal or the script itself sources bin/activate")),
        Program.CRON: _ACTIVATE,
        Program.SSH_COMMAND: _ACTIVATE,
        Program.LAUNCHER: _when(text("where it sources bin/activate for what it runs, as VS Code does in its terminals")),
        Program.KERNEL: _when(
            text(
                "where the Jupyter server was started with it active: a kernel is started by its python's path, and no script runs"
            )
        ),
        Program.SERVICE: _ACTIVATE,
    },
    Kind.ENVRC: {
        Program.TERMINAL: _when(text("in that directory and below it, after `direnv allow`, in a shell with direnv's hook")),
        Program.SCRIPT: _when(text("where such a terminal starts it, or `direnv exec DIR`")),
        Program.CRON: _DIRENV_EXEC,
        Program.SSH_COMMAND: _DIRENV_EXEC,
        Program.LAUNCHER: _when(text("its terminals in that directory do; the program itself where it has a direnv extension")),
        Program.KERNEL: _when(text("where the Jupyter server was started in that directory")),
        Program.SERVICE: _DIRENV_EXEC,
    },
    Kind.DOTENV: {
        Program.TERMINAL: Sight(Sees.NO, text("no shell reads .env")),
        Program.SCRIPT: _READS_IT,
        Program.CRON: _READS_IT,
        Program.SSH_COMMAND: _READS_IT,
        Program.LAUNCHER: _when(text("where it reads .env for what it runs, as VS Code's Python extension does")),
        Program.KERNEL: _when(text("where the notebook loads it, or the IDE that starts the kernel reads it")),
        Program.SERVICE: _when(text("where its unit names the file as EnvironmentFile=")),
    },
    Kind.JUPYTER: {
        Program.TERMINAL: _NO,
        Program.SCRIPT: _NO,
        Program.CRON: _NO,
        Program.SSH_COMMAND: _NO,
        Program.LAUNCHER: _when(text("its notebooks do, where they run with this kernel")),
        Program.KERNEL: _when(text("this one, from its next start on; other kernels do not")),
        Program.SERVICE: _NO,
    },
    Kind.DESKTOP: {
        Program.TERMINAL: _SESSION,
        Program.SCRIPT: _when(text("where a program of the desktop session starts it")),
        Program.CRON: _NO,
        Program.SSH_COMMAND: _NO,
        Program.LAUNCHER: _SESSION,
        Program.KERNEL: _when(text("where a program of the desktop session started the Jupyter server")),
        Program.SERVICE: _when(text("after the next login")),
    },
}
