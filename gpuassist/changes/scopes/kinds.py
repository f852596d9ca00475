"""The kinds of scopes, and which programs see what is chosen in each: the one table that the command line and the window show."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum

from msgspec import Struct

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


class ViewingProgram(str, Enum):
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


class Sight(Struct, frozen=True):
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

PROGRAMS: Mapping[ViewingProgram, Text] = {
    ViewingProgram.TERMINAL: text("a new terminal"),
    ViewingProgram.SCRIPT: text("a script"),
    ViewingProgram.CRON: text("a cron job"),
    ViewingProgram.SSH_COMMAND: text("a command over ssh"),
    ViewingProgram.LAUNCHER: text("an IDE started from the launcher"),
    ViewingProgram.KERNEL: text("a Jupyter kernel"),
    ViewingProgram.SERVICE: text("a systemd user service"),
}


def _when(words: Text) -> Sight:
    return Sight(Sees.DEPENDS, words)


_YES, _NO = Sight(Sees.YES), Sight(Sees.NO)
_CONDA_RUN = _when(text("where it activates the environment, or runs through `conda run`"))
_ACTIVATE = _when(text("where it sources bin/activate; the environment's python alone reads nothing of it"))
_DIRENV_EXEC = _when(text("where it runs through `direnv exec DIR`"))
_READS_IT = _when(text("where the program reads .env itself, or is started by one that does (docker compose, uv run --env-file)"))
_SESSION = _when(text("where systemd starts the desktop session, as with GNOME and Plasma; after the next login"))

SEEN: Mapping[Kind, Mapping[ViewingProgram, Sight]] = {
    Kind.SHELL: {
        ViewingProgram.TERMINAL: _YES,
        ViewingProgram.SCRIPT: _when(text("where a terminal starts it")),
        ViewingProgram.CRON: _NO,
        ViewingProgram.SSH_COMMAND: _when(
            text(
                "fish reads its files there; bash reads .bashrc, but most of these return at once where nobody types; zsh does not"
            )
        ),
        ViewingProgram.LAUNCHER: _when(
            text("the terminals in it do; the program itself where it asks a login shell, as VS Code does")
        ),
        ViewingProgram.KERNEL: _when(text("where the Jupyter server was started in a terminal")),
        ViewingProgram.SERVICE: _NO,
    },
    Kind.CONDA: {
        ViewingProgram.TERMINAL: _when(text("after `conda activate`")),
        ViewingProgram.SCRIPT: _when(
            text("where its terminal or the script itself activates the environment, or `conda run` starts it")
        ),
        ViewingProgram.CRON: _CONDA_RUN,
        ViewingProgram.SSH_COMMAND: _CONDA_RUN,
        ViewingProgram.LAUNCHER: _when(
            text("where it activates the environment for what it runs, as VS Code does in its terminals")
        ),
        ViewingProgram.KERNEL: _when(
            text("where the Jupyter server was started with it active: a kernel is started by its python's path, and no hook runs")
        ),
        ViewingProgram.SERVICE: _CONDA_RUN,
    },
    Kind.VENV: {
        ViewingProgram.TERMINAL: _when(text("after its bin/activate was sourced")),
        ViewingProgram.SCRIPT: _when(text("where its terminal or the script itself sources bin/activate")),
        ViewingProgram.CRON: _ACTIVATE,
        ViewingProgram.SSH_COMMAND: _ACTIVATE,
        ViewingProgram.LAUNCHER: _when(text("where it sources bin/activate for what it runs, as VS Code does in its terminals")),
        ViewingProgram.KERNEL: _when(
            text(
                "where the Jupyter server was started with it active: a kernel is started by its python's path, and no script runs"
            )
        ),
        ViewingProgram.SERVICE: _ACTIVATE,
    },
    Kind.ENVRC: {
        ViewingProgram.TERMINAL: _when(text("in that directory and below it, after `direnv allow`, in a shell with direnv's hook")),
        ViewingProgram.SCRIPT: _when(text("where such a terminal starts it, or `direnv exec DIR`")),
        ViewingProgram.CRON: _DIRENV_EXEC,
        ViewingProgram.SSH_COMMAND: _DIRENV_EXEC,
        ViewingProgram.LAUNCHER: _when(
            text("its terminals in that directory do; the program itself where it has a direnv extension")
        ),
        ViewingProgram.KERNEL: _when(text("where the Jupyter server was started in that directory")),
        ViewingProgram.SERVICE: _DIRENV_EXEC,
    },
    Kind.DOTENV: {
        ViewingProgram.TERMINAL: Sight(Sees.NO, text("no shell reads .env")),
        ViewingProgram.SCRIPT: _READS_IT,
        ViewingProgram.CRON: _READS_IT,
        ViewingProgram.SSH_COMMAND: _READS_IT,
        ViewingProgram.LAUNCHER: _when(text("where it reads .env for what it runs, as VS Code's Python extension does")),
        ViewingProgram.KERNEL: _when(text("where the notebook loads it, or the IDE that starts the kernel reads it")),
        ViewingProgram.SERVICE: _when(text("where its unit names the file as EnvironmentFile=")),
    },
    Kind.JUPYTER: {
        ViewingProgram.TERMINAL: _NO,
        ViewingProgram.SCRIPT: _NO,
        ViewingProgram.CRON: _NO,
        ViewingProgram.SSH_COMMAND: _NO,
        ViewingProgram.LAUNCHER: _when(text("its notebooks do, where they run with this kernel")),
        ViewingProgram.KERNEL: _when(text("this one, from its next start on; other kernels do not")),
        ViewingProgram.SERVICE: _NO,
    },
    Kind.DESKTOP: {
        ViewingProgram.TERMINAL: _SESSION,
        ViewingProgram.SCRIPT: _when(text("where a program of the desktop session starts it")),
        ViewingProgram.CRON: _NO,
        ViewingProgram.SSH_COMMAND: _NO,
        ViewingProgram.LAUNCHER: _SESSION,
        ViewingProgram.KERNEL: _when(text("where a program of the desktop session started the Jupyter server")),
        ViewingProgram.SERVICE: _when(text("after the next login")),
    },
}
