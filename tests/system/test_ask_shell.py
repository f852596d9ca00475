"""Shells asked on real terminals: whoever reads the terminal in the end answers, and nothing of ours or theirs stays behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from gpuassist.model.fact import Known, Unknown
from gpuassist.model.shell import ShadowKind, Terminal
from gpuassist.model.words import ENGLISH
from gpuassist.system.stop_process import marked
from gpuassist.system.surroundings import Surroundings
from gpuassist.system.terminal import Opening, ShellState, ask_shell, ask_ways
from gpuassist.system.world import World
from tests.fakes import put

BASH, ZSH, FISH = "/bin/bash", "/usr/bin/zsh", "/usr/bin/fish"
RC = {BASH: ".bashrc", ZSH: ".zshrc", FISH: ".config/fish/config.fish"}
SECONDS = 30.0  # on a busy machine; a shell is done in a tenth of one
ARCH_WIKI = "if [[ $(ps --no-header --pid=$PPID --format=comm) != fish && -z ${BASH_EXECUTION_STRING} ]]; then exec fish; fi\n"


@pytest.fixture
def fish_home(home: Path) -> Path:
    """A home in which fish was before: at its first start it reads every manual page, for minutes."""
    (home / ".local/share/fish/generated_completions").mkdir(parents=True)
    return home


def _world(home: Path, shell: str = BASH, **variables: str) -> World:
    return World(Surroundings(str(home), "you", os.geteuid(), variables, str(home), shell))


def _ask(
    home: Path, rc: str = "", shell: str = BASH, *, opening: Opening = Opening.TERMINAL, seconds: float = SECONDS
) -> ShellState:
    if rc:
        put(home, RC[shell], rc)
    return ask_shell(_world(home, shell), opening, seconds=seconds)


def _seen(asked: ShellState) -> Terminal:
    assert isinstance(asked.terminal, Known), asked
    return asked.terminal.value


def _why(asked: ShellState) -> str:
    assert isinstance(asked.terminal, Unknown), asked
    return ENGLISH(asked.terminal.reason)


@pytest.mark.needs("fish")
@pytest.mark.parametrize("hand_over", ["if [ -t 1 ]; then\nexec fish\nfi\n", ARCH_WIKI])
def test_shell_that_takes_over_on_a_terminal_is_the_one_that_answers(fish_home: Path, hand_over: str) -> None:
    put(fish_home, RC[FISH], "set -gx CUDA_PATH /fish\n")
    seen = _seen(_ask(fish_home, "export CUDA_HOME=/bash\n" + hand_over + "export CUDA_HOME=/behind\n"))
    assert (seen.shell, seen.variable("CUDA_HOME"), seen.variable("CUDA_PATH")) == (FISH, "/bash", "/fish")


@pytest.mark.needs("zsh")
def test_guard_against_dumb_terminals_hands_over_as_for_people(home: Path) -> None:
    put(home, RC[ZSH], "export CUDA_PATH=/zsh\n")
    seen = _seen(_ask(home, 'if [ "$TERM" = dumb ]; then :; else command -v zsh && exec zsh; fi\nexport CUDA_HOME=/no\n'))
    assert (Path(seen.shell).name, seen.variable("CUDA_HOME"), seen.variable("CUDA_PATH")) == ("zsh", "", "/zsh")


@pytest.mark.needs("zsh")
def test_guard_against_dumb_terminals_is_passed_as_by_people(home: Path) -> None:
    seen = _seen(_ask(home, 'if [[ "$TERM" == "dumb" ]]; then unsetopt zle; return; fi\nexport CUDA_HOME=/x\n', ZSH))
    assert seen.variable("CUDA_HOME") == "/x"


@pytest.mark.needs("zsh")
@pytest.mark.parametrize("line", ["exec sh", "exec zsh -l", "zsh -l"])
def test_shell_within_a_shell_is_followed(home: Path, line: str) -> None:
    seen = _seen(_ask(home, f"export CUDA_HOME=/x\nalias nvcc=no\n{line}\n"))
    assert Path(seen.shell).name != "bash"
    assert (seen.variable("CUDA_HOME"), seen.shadows) == ("/x", ())


@pytest.mark.needs("tmux")
@pytest.mark.parametrize("start", ["exec tmux new-session -A -s main", "tmux"])
def test_pane_of_tmux_answers_and_nothing_of_it_stays(home: Path, start: str) -> None:
    put(home, ".profile", "export CUDA_PATH=/profile${TMUX:+-in-tmux}\n")
    asked = _ask(home, f'export CUDA_HOME=/x\n[ -z "$TMUX" ] && {start}\n')
    seen = _seen(asked)
    assert (asked.through, asked.left_behind) == ("tmux", ())
    assert (seen.variable("CUDA_HOME"), seen.variable("CUDA_PATH")) == ("/x", "/profile-in-tmux")


@pytest.mark.needs("less")
def test_program_that_is_no_shell_is_named(home: Path) -> None:
    assert "puts less in the place of /bin/bash" in _why(_ask(home, "less ~/.bashrc\n"))


@pytest.mark.parametrize(("shell", "line"), [(BASH, "alias nvcc=/old/nvcc"), (ZSH, "alias nvcc=/old/nvcc")])
def test_alias_stands_in_front_of_the_program(home: Path, shell: str, line: str) -> None:
    if not Path(shell).exists():
        pytest.skip("NOT RUN: needs zsh, install the package zsh")
    shadow = _seen(_ask(home, line + "\n", shell)).shadow("nvcc")
    assert shadow is not None
    assert (shadow.kind, "/old/nvcc" in shadow.text) == (ShadowKind.ALIAS, True)


@pytest.mark.needs("zsh", "fish")
@pytest.mark.parametrize(
    ("shell", "line"),
    [(BASH, "function nvcc { /old/nvcc; }"), (ZSH, "nvcc() { /old/nvcc }"), (FISH, "alias nvcc /old/nvcc")],
)
def test_function_stands_in_front_of_the_program(fish_home: Path, shell: str, line: str) -> None:
    shadow = _seen(_ask(fish_home, line + "\n", shell)).shadow("nvcc")
    assert shadow is not None
    assert (shadow.kind, "/old/nvcc" in shadow.text) == (ShadowKind.FUNCTION, True)


@pytest.mark.needs("zsh")
@pytest.mark.parametrize(("shell", "line"), [(BASH, "hash -p /old/nvcc nvcc"), (ZSH, "hash nvcc=/old/nvcc")])
def test_remembered_path_stands_in_front_of_the_program(home: Path, shell: str, line: str) -> None:
    put(home, "bin/nvcc", "#!/bin/sh\n", mode=0o755)
    put(home, "bin/gcc", "#!/bin/sh\n", mode=0o755)
    seen = _seen(_ask(home, f"PATH=$HOME/bin:$PATH\n{line}\ngcc\n", shell))
    command = seen.command("nvcc")
    assert command is not None
    assert command.path == str(home / "bin/nvcc")
    assert [(one.name, one.kind, one.text) for one in seen.shadows] == [("nvcc", ShadowKind.HASH, "/old/nvcc")]


def test_alias_is_none_where_it_is_not_expanded(home: Path) -> None:
    assert _seen(_ask(home, "alias nvcc=no\n", opening=Opening.SSH_COMMAND)).shadows == ()


@pytest.mark.needs("ssh-agent")
def test_what_a_start_up_file_leaves_running_is_named(home: Path) -> None:
    asked = _ask(home, 'eval "$(ssh-agent)" >/dev/null\nsleep 300 &\nexport CUDA_HOME=/x\n')
    try:
        assert [one.name for one in asked.left_behind] == ["ssh-agent"]
        assert _seen(asked).variable("CUDA_HOME") == "/x"
    finally:
        for one in asked.left_behind:
            os.kill(one.pid, signal.SIGKILL)


def test_nothing_else_is_left(home: Path) -> None:
    asked = _ask(home, "trap '' HUP TERM\nsleep 301 &\nsleep 302 & disown\n(sleep 303 &)\n")
    assert asked.left_behind == ()
    assert not _sleeping("301", "302", "303")


def _sleeping(*seconds: str) -> set[str]:
    found = set()
    for place in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = place.read_bytes().split(b"\0")
        except OSError:
            continue
        if words[:1] == [b"sleep"] and words[1].decode() in seconds:
            found.add(place.parent.name)
    return found


def test_question_on_the_terminal_gets_no_answer(home: Path) -> None:
    asked = _ask(home, 'read -p "Proxy? " CUDA_HOME; read -rs CUDA_PATH </dev/tty; export CUDA_HOME CUDA_PATH\n')
    seen = _seen(asked)
    assert asked.questions[0] == "Proxy?"
    assert (seen.is_set("CUDA_HOME"), seen.variable("CUDA_HOME"), seen.variable("CUDA_PATH")) == (True, "", "")


@pytest.mark.needs("zsh")
def test_question_with_an_editor_of_its_own_is_no_prompt(home: Path) -> None:
    asked = _ask(home, 'vared -p "Proxy? " -c CUDA_HOME\nexport CUDA_HOME\n', ZSH)
    assert asked.questions == ("Proxy?",)
    assert _seen(asked).variable("CUDA_HOME") == ""


def test_question_without_end_is_told(home: Path) -> None:
    assert "asks again and again: Sure?" in _why(_ask(home, 'until read -p "Sure? " answer </dev/tty; do :; done\n'))


@pytest.mark.needs("ssh-add", "ssh-keygen", "ssh-agent")
def test_passphrase_is_asked_for_in_vain(home: Path) -> None:
    asked = _ask(
        home,
        'eval "$(ssh-agent)" >/dev/null\nssh-keygen -q -t ed25519 -N secret -f ~/key\nssh-add ~/key\nssh-agent -k >/dev/null\n'
        "export CUDA_HOME=/x\n",
    )
    assert _seen(asked).variable("CUDA_HOME") == "/x"
    assert "passphrase" in asked.questions[0]


def test_endless_output_is_read_and_dropped(home: Path) -> None:
    asked = _ask(home, "head -c 30000000 /dev/zero | tr '\\0' x\nexport CUDA_HOME=/x\n")
    assert _seen(asked).variable("CUDA_HOME") == "/x"


@pytest.mark.parametrize("file", [".bashrc", ".profile"])
def test_variable_that_is_too_large_for_programs_is_the_reason(home: Path, file: str) -> None:
    put(home, file, "export SMALL=1 LARGE=$(printf 'x%.0s' {1..300000}) SMALLER=1\n")
    why = _why(ask_shell(_world(home), Opening.TERMINAL if file == ".bashrc" else Opening.LOGIN, seconds=SECONDS))
    assert "can start no program" in why
    assert "LARGE alone takes 3000" in why


@pytest.mark.needs("zsh", "fish")
@pytest.mark.parametrize(
    ("shell", "line", "said"),
    [
        (BASH, "no-such-program --bar", ("bash: no-such-program: command not found",)),
        (BASH, "if then fi", (".bashrc: line 2: syntax error near unexpected token `then'",)),
        (ZSH, "ls ~/none/**/*.zsh", (".zshrc:2: no matches found: ",)),
        (FISH, "no-such-program --bar", ("fish: Unknown command: no-such-program", "config.fish (line 2):")),
    ],
)
def test_error_lines_of_the_shell_are_told(fish_home: Path, shell: str, line: str, said: tuple[str, ...]) -> None:
    asked = _ask(fish_home, f"echo Welcome: all is well\n{line}\n", shell)
    assert all(any(words in one for one in asked.complaints) for words in said), asked
    assert not [one for one in asked.complaints if "Welcome" in one or "\x1b" in one]


HISTORIES = {
    BASH: (".bash_history", 'HISTFILE=~/.bash_history HISTCONTROL= HISTIGNORE=\nPROMPT_COMMAND="history -a"\n'),
    ZSH: (".zsh_history", "HISTFILE=~/.zsh_history HISTSIZE=100 SAVEHIST=100\nsetopt inc_append_history share_history\n"),
    FISH: (".local/share/fish/fish_history", "set -g fish_greeting\n"),
}


@pytest.mark.needs("zsh", "fish")
@pytest.mark.parametrize(("shell", "handed_over"), [(BASH, False), (ZSH, False), (ZSH, True), (FISH, True)])
def test_history_stays_as_it_is(fish_home: Path, shell: str, *, handed_over: bool) -> None:
    place, rc = HISTORIES[shell]
    kept = "- cmd: ls\n  when: 1700000000\n" if shell == FISH else "ls\n"
    put(fish_home, place, kept)
    put(fish_home, RC[shell], rc)
    if handed_over:
        put(fish_home, ".bashrc", f"exec {Path(shell).name}\n")
    seen = _seen(ask_shell(_world(fish_home, BASH if handed_over else shell), Opening.TERMINAL, seconds=SECONDS))
    assert Path(seen.shell).name == Path(shell).name
    assert (fish_home / place).read_text() == kept


@pytest.mark.needs("zsh")
@pytest.mark.parametrize(
    ("shell", "line"),
    [
        (BASH, "set -o vi; stty -ixon; alias .=false; bind 'set enable-bracketed-paste off'"),
        (BASH, "export TERM=dumb"),
        (ZSH, "bindkey -v; bindkey -M viins jk vi-cmd-mode; setopt no_clobber ksh_arrays null_glob; alias -g .=false"),
        (ZSH, "export TERM=dumb; unsetopt zle"),
        (ZSH, "autoload -Uz url-quote-magic bracketed-paste-magic; zle -N self-insert url-quote-magic"),
    ],
)
def test_line_editors_take_what_is_typed(home: Path, shell: str, line: str) -> None:
    assert _seen(_ask(home, f"{line}\nexport CUDA_HOME=/x\n", shell)).variable("CUDA_HOME") == "/x"


def test_prompt_that_asks_the_terminal_gets_an_answer(home: Path) -> None:
    # As prompts do that want to know where the cursor is, before they draw themselves.
    asked = _ask(home, "printf '\\e[6n' >/dev/tty; IFS= read -rsd R where </dev/tty; export CUDA_HOME=${where#*[}\n")
    assert _seen(asked).variable("CUDA_HOME") == "1;1"


def test_size_and_name_of_the_terminal_are_there(home: Path) -> None:
    put(home, ".bashrc", "export CUDA_HOME=$TERM CUDA_PATH=$(stty size)\n")
    seen = _seen(ask_shell(_world(home, BASH, TERM="dumb"), Opening.TERMINAL, seconds=SECONDS))
    assert (seen.variable("CUDA_HOME"), seen.variable("CUDA_PATH")) == ("xterm-256color", "24 80")


def test_login_that_never_begins_a_session_leaves_the_window_to_another(home: Path) -> None:
    put(home, ".bash_profile", "exec cat\n")
    assert _seen(_ask(home, "export CUDA_HOME=/x\n")).variable("CUDA_HOME") == "/x"


def test_ways_without_a_terminal(home: Path) -> None:
    put(home, ".profile", "export BASH_ENV=~/.bash_env CUDA_HOME=/profile\n[ -t 0 ] || [ -t 1 ] || export CUDA_PATH=/no-terminal\n")
    put(home, ".bash_env", "export CUDA_ROOT=/bash_env\n")
    put(home, ".bashrc", "export CUDA_BIN=/rc-$-\n[ ! -t 0 ] || export BASH_ENV=~/.of_terminals\n")
    put(home, ".of_terminals", "nvcc() { /of/terminals; }\n")
    put(home, ".config/environment.d/60-cuda.conf", "CUDA_HOME=/desktop\nCUDA_PATH=${CUDA_PATH}:/more\n")
    ways = {opening: _seen(asked) for opening, asked in ask_ways(_world(home), seconds=SECONDS).items()}
    held = {
        opening: {one.name: one.value for one in seen.variables if one.name.startswith("CUDA_")} for opening, seen in ways.items()
    }
    # A login shell that runs a command reads BASH_ENV too, once its login files are done.
    session = {"CUDA_HOME": "/profile", "CUDA_PATH": "/no-terminal", "CUDA_ROOT": "/bash_env"}
    assert held.pop(Opening.SSH_COMMAND)["CUDA_BIN"].startswith("/rc-h")
    assert held.pop(Opening.TERMINAL) == {**session, "CUDA_BIN": "/rc-himBH"}
    # A script that is started there inherits all of it, and reads what is named there.
    assert held.pop(Opening.TERMINAL_COMMAND) == {**session, "CUDA_BIN": "/rc-himBH"}
    assert [opening for opening, seen in ways.items() if seen.shadow("nvcc") is not None] == [Opening.TERMINAL_COMMAND]
    assert held == {
        Opening.BARE_TERMINAL: {"CUDA_BIN": "/rc-himBH"},
        Opening.LOGIN: {"CUDA_HOME": "/profile"},
        Opening.DESKTOP: {**session, "CUDA_HOME": "/desktop", "CUDA_PATH": "/no-terminal:/more"},
        Opening.LOGIN_COMMAND: session,
        Opening.COMMAND: {"CUDA_ROOT": "/bash_env"},
    }


def test_late_shell_names_what_is_at_work_and_ends_it(home: Path) -> None:
    assert "sleep was at work" in _why(_ask(home, "sleep 300\n", seconds=0.7))


def test_shell_does_not_outlive_a_killed_gpuassist(home: Path) -> None:
    # Stubborn ones: neither the closed terminal nor a polite request ends them.
    put(home, ".bashrc", "trap '' HUP TERM INT\nsleep 304 &\ntouch ~/there\nsleep 305\n")
    asking = (
        "from gpuassist.system.terminal import *; from gpuassist.system.world import World\n"
        "from gpuassist.system.surroundings import Surroundings\n"
        f"ask_terminal(World(Surroundings({str(home)!r}, 'you', {os.geteuid()}, {{}}, {str(home)!r}, '/bin/bash')), seconds=300)"
    )
    ours = subprocess.Popen([sys.executable, "-c", asking], cwd=Path(__file__).parents[2])
    try:
        assert _comes(lambda: (home / "there").exists() and bool(_sleeping("305")))
    finally:
        ours.kill()
        ours.wait()
    assert _comes(lambda: not _sleeping("304", "305"))


def _comes(wanted: Callable[[], bool]) -> bool:
    deadline = time.monotonic() + 30
    while not wanted() and time.monotonic() < deadline:
        time.sleep(0.01)
    return wanted()


def test_nothing_carries_the_mark_afterwards(home: Path) -> None:
    _ask(home, "printf %s $GPUASSIST_RUN > ~/mark; (setsid sleep 0 &)\n")
    mark = (home / "mark").read_text()
    assert len(mark) == 16
    assert marked(mark) == ()
