"""A new terminal asked of real shells whose HOME is made up, and of scripted ones."""

from __future__ import annotations

import marshal
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pytest
from msgspec.structs import replace

from gpuassist.model.fact import Fact, Known, Unknown
from gpuassist.model.shell import Terminal, Variable
from gpuassist.model.words import ENGLISH
from gpuassist.system.ask_shell import child_command
from gpuassist.system.files import Files
from gpuassist.system.processes import Ending, ProcessResult
from gpuassist.system.surroundings import Surroundings
from gpuassist.system.terminal import Opening, ask_shell, ask_terminal, find_command, own_terminal, that_matter, usable_shell
from gpuassist.system.world import World
from tests.fakes import ScriptedProcesses, link, put, world_under

BASHRC_OF_DEBIAN = "case $- in\n    *i*) ;;\n      *) return;;\nesac\n"


def _world(home: Path, shell: str = "/bin/bash", **variables: str) -> World:
    return World(Surroundings(str(home), "you", os.geteuid(), variables, str(home), shell))


def _ask(home: Path, shell: str = "/bin/bash", *, seconds: float = 10) -> Terminal:
    fact = ask_terminal(_world(home, shell), seconds=seconds)
    assert isinstance(fact, Known), fact
    return fact.value


def _why(fact: Fact[Terminal]) -> str:
    assert isinstance(fact, Unknown), fact
    return ENGLISH(fact.reason)


class _CutShort(ScriptedProcesses):
    """A shell whose answer breaks off before it tells its variables."""

    def run(
        self,
        command: Sequence[str],
        *,
        seconds: float,
        environment: Mapping[str, str],
        directory: str = "/",
        stdin: bytes = b"",
        cancelled: Callable[[], bool] | None = None,
    ) -> ProcessResult:
        came = {"ending": "answered", "answer": "begin\0bash\0001\0path\0gcc\0/usr/bin/gcc\n\0"}
        return ProcessResult(Ending.EXITED, 0, marshal.dumps(came), b"", 0.0)


def _nvcc(directory: Path) -> Path:
    return put(directory, "nvcc", "#!/bin/sh\n", mode=0o755)


def test_variables_of_bashrc_are_seen(home: Path) -> None:
    put(home, ".bashrc", BASHRC_OF_DEBIAN + "export CUDA_HOME=/opt/cuda TORCH_CUDA_ARCH_LIST=8.9\n")
    terminal = _ask(home)
    assert (terminal.variable("CUDA_HOME"), terminal.variable("TORCH_CUDA_ARCH_LIST")) == ("/opt/cuda", "8.9")


def test_login_file_and_bashrc_both_count(home: Path) -> None:
    put(home, ".profile", "export CUDA_HOME=/from/profile CUDA_PATH=/from/profile\n")
    put(home, ".bashrc", BASHRC_OF_DEBIAN + "export CUDA_HOME=/from/bashrc\n")
    terminal = _ask(home)
    assert (terminal.variable("CUDA_HOME"), terminal.variable("CUDA_PATH")) == ("/from/bashrc", "/from/profile")


def test_bash_profile_hides_profile_but_not_bashrc(home: Path) -> None:
    put(home, ".bash_profile", "export CUDA_PATH=/from/bash_profile\n")
    put(home, ".profile", "export CUDA_PATH=/from/profile\n")
    put(home, ".bashrc", "export CUDA_HOME=/from/bashrc\n")
    terminal = _ask(home)
    assert (terminal.variable("CUDA_HOME"), terminal.variable("CUDA_PATH")) == ("/from/bashrc", "/from/bash_profile")


def test_line_that_both_shells_run_counts_twice(home: Path) -> None:
    put(home, ".profile", ". ~/.bashrc\n")
    put(home, ".bashrc", "export LD_LIBRARY_PATH=/x:$LD_LIBRARY_PATH\n")
    assert _ask(home).variable("LD_LIBRARY_PATH") == "/x:/x:"


def test_shell_that_stops_at_every_failure_still_answers(home: Path) -> None:
    put(home, ".bashrc", "set -eu -o pipefail\nexport CUDA_HOME=/x\n")
    assert _ask(home).variable("CUDA_HOME") == "/x"


def test_large_environment_survives(home: Path) -> None:
    put(home, ".bashrc", "export CUDA_HOME=$(printf 'x%.0s' {1..100000})\n")
    assert len(_ask(home).variable("CUDA_HOME")) == 100_000


def test_value_that_is_not_utf8_is_marked(home: Path) -> None:
    put(home, ".bashrc", b"export CUDA_HOME=/caf\xe9\n")
    assert _ask(home).variable("CUDA_HOME") == "/caf\ufffd"


def test_directory_with_a_space_holds_commands_too(home: Path) -> None:
    _nvcc(home / "my tools")
    put(home, ".bashrc", 'export PATH="$HOME/my tools:$PATH"\n')
    command = _ask(home).command("nvcc")
    assert command is not None
    assert command.path == str(home / "my tools/nvcc")


def test_dangling_link_on_path_is_passed_over(home: Path) -> None:
    link(home, "gone/nvcc", str(home / "removed/nvcc"))
    _nvcc(home / "there")
    put(home, ".bashrc", "export PATH=$HOME/gone:$HOME/there:$PATH\n")
    command = _ask(home).command("nvcc")
    assert command is not None
    assert command.path == str(home / "there/nvcc")


def test_variable_that_is_not_exported_is_not_there(home: Path) -> None:
    put(home, ".bashrc", "CUDA_HOME=/not/exported\n")
    assert not _ask(home).is_set("CUDA_HOME")


def test_empty_variable_is_set(home: Path) -> None:
    put(home, ".bashrc", "export CUDA_VISIBLE_DEVICES=\n")
    terminal = _ask(home)
    assert terminal.is_set("CUDA_VISIBLE_DEVICES")
    assert terminal.variable("CUDA_VISIBLE_DEVICES") == ""


@pytest.mark.parametrize("value", ["a\nb", "a 'b' \"c\" $d", "=", "ä", " "])
def test_value_survives_as_it_is(home: Path, value: str) -> None:
    put(home, "value", value)
    put(home, ".bashrc", 'IFS= read -r -d "" CUDA_HOME < ~/value; export CUDA_HOME\n')
    assert _ask(home).variable("CUDA_HOME") == value


def test_other_variables_and_secrets_stay_private(home: Path) -> None:
    put(home, ".bashrc", "export NVIDIA_API_KEY=nvapi-1 AWS_SECRET=2 NVIDIA_VISIBLE_DEVICES=all\n")
    names = [variable.name for variable in _ask(home).variables]
    assert "NVIDIA_VISIBLE_DEVICES" in names
    assert not {"NVIDIA_API_KEY", "AWS_SECRET"} & set(names)


def test_nvcc_that_wins_on_path_is_found(home: Path) -> None:
    _nvcc(home / "cuda-11.7")
    _nvcc(home / "cuda-12.4")
    put(home, ".bashrc", 'export PATH=$HOME/cuda-11.7:$HOME/cuda-12.4:"$PATH"\n')
    command = _ask(home).command("nvcc")
    assert command is not None
    assert command.path == str(home / "cuda-11.7" / "nvcc")


def test_symlink_is_followed_to_the_real_file(home: Path) -> None:
    real = _nvcc(home / "cuda-12.4")
    link(home, "bin/nvcc", str(real))
    put(home, ".bashrc", 'export PATH="$HOME/bin:$PATH"\n')
    command = _ask(home).command("nvcc")
    assert command is not None
    assert (command.path, command.real_path) == (str(home / "bin/nvcc"), str(real.resolve()))


def test_alias_and_function_do_not_count(home: Path) -> None:
    _nvcc(home / "bin")
    put(
        home,
        ".bashrc",
        'export PATH="$HOME/bin:$PATH"\nalias nvcc="echo no"\ngcc() { echo no; }\nalias type="echo no" exec=: printf=:\n',
    )
    command = _ask(home).command("nvcc")
    assert command is not None
    assert command.path == str(home / "bin/nvcc")


def test_command_that_is_not_there_is_none(home: Path) -> None:
    put(home, ".bashrc", "export PATH=$HOME\n")
    assert _ask(home).commands == ()


def test_banner_and_trace_do_not_matter(home: Path) -> None:
    put(home, ".bashrc", "echo Welcome; printf 'CUDA_HOME=/lie\\0'; set -x\nexport CUDA_HOME=/true\n")
    assert _ask(home).variable("CUDA_HOME") == "/true"


def test_syntax_error_leaves_what_stood_before_it(home: Path) -> None:
    put(home, ".bashrc", "export CUDA_HOME=/before\nif then fi\n")
    assert _ask(home).variable("CUDA_HOME") == "/before"


def test_start_up_file_that_is_a_directory_is_passed_over(home: Path) -> None:
    (home / ".bashrc").mkdir()
    assert _ask(home).shell == "/bin/bash"


def test_question_in_a_start_up_file_gets_no_answer(home: Path) -> None:
    put(home, ".bashrc", 'read -p "Proxy? " CUDA_HOME; export CUDA_HOME\n')
    assert _ask(home).variable("CUDA_HOME") == ""


def test_background_job_does_not_delay(home: Path) -> None:
    put(home, ".bashrc", "sleep 60 &\nexport CUDA_HOME=/x\n")
    assert _ask(home).variable("CUDA_HOME") == "/x"


def test_exit_trap_does_not_run(home: Path) -> None:
    put(home, ".bashrc", "trap 'touch ~/trapped' EXIT\n")
    _ask(home)
    assert not (home / "trapped").exists()


@pytest.mark.parametrize("line", ["while :; do sleep 1; done", "sleep 600", "trap '' TERM HUP; sleep 600"])
def test_file_that_never_returns_is_unknown_in_time(home: Path, line: str) -> None:
    put(home, ".bashrc", line + "\n")
    assert "were not done after" in _why(ask_terminal(_world(home), seconds=1))


@pytest.mark.parametrize(("line", "why"), [("exit 3", "leaves it with status 3"), ("exec /bin/cat", "puts cat in its place")])
def test_file_that_leaves_the_shell_is_unknown(home: Path, line: str, why: str) -> None:
    put(home, ".bashrc", line + "\n")
    assert why in _why(ask_terminal(_world(home)))


def test_last_complaint_is_the_reason(home: Path) -> None:
    put(home, ".bashrc", "exec /no/such/tmux\n")
    assert "/no/such/tmux" in _why(ask_terminal(_world(home)))


def test_another_home_can_be_asked(home: Path, tmp_path: Path) -> None:
    put(home, ".bashrc", "export CUDA_HOME=/mine\n")
    put(tmp_path, ".bashrc", "export CUDA_HOME=/other\n")
    fact = ask_terminal(_world(home), home=str(tmp_path))
    assert isinstance(fact, Known)
    assert fact.value.variable("CUDA_HOME") == "/other"


def test_our_own_environment_does_not_leak_in(home: Path) -> None:
    fact = ask_terminal(_world(home, CUDA_HOME="/ours", LD_LIBRARY_PATH="/ours"))
    assert isinstance(fact, Known)
    assert not fact.value.is_set("CUDA_HOME")


@pytest.mark.needs("zsh")
def test_zsh_reads_its_own_files(home: Path) -> None:
    _nvcc(home / "bin")
    put(home, ".zshenv", "export CUDA_HOME=/zshenv\n")
    put(home, ".zshrc", "echo hi\nexport CUDA_PATH=/zshrc\npath=($HOME/bin $path)\nalias nvcc=false\n")
    terminal = _ask(home, "/usr/bin/zsh")
    command = terminal.command("nvcc")
    assert (terminal.variable("CUDA_HOME"), terminal.variable("CUDA_PATH")) == ("/zshenv", "/zshrc")
    assert command is not None
    assert command.path == str(home / "bin/nvcc")


@pytest.mark.needs("fish")
def test_fish_reads_its_own_files(home: Path) -> None:
    _nvcc(home / "bin")
    put(home, ".config/fish/config.fish", "echo hi\nset -gx CUDA_HOME /fish\nset -gx PATH $HOME/bin $PATH\nalias nvcc=false\n")
    terminal = _ask(home, "/usr/bin/fish")
    command = terminal.command("nvcc")
    assert terminal.variable("CUDA_HOME") == "/fish"
    assert command is not None
    assert command.path == str(home / "bin/nvcc")


@pytest.mark.needs("zsh")
def test_zsh_that_never_returns_is_unknown(home: Path) -> None:
    put(home, ".zshrc", "sleep 600\n")
    assert "zsh were not done after" in _why(ask_terminal(_world(home, "/usr/bin/zsh"), seconds=1))


def test_foreign_shell_is_unknown_by_name(home: Path) -> None:
    assert "/bin/tcsh" in _why(ask_terminal(_world(home, "/bin/tcsh")))


def test_missing_shell_is_unknown(home: Path) -> None:
    assert "could not be started" in _why(ask_terminal(_world(home, "/no/bash")))


def test_recorded_root_starts_no_real_shell(tmp_path: Path) -> None:
    world = world_under(tmp_path)
    assert "could not be asked" in _why(ask_terminal(world))
    assert isinstance(world.processes, ScriptedProcesses)
    assert world.processes.asked == [child_command()]


def test_answer_that_stops_half_way_is_unknown(tmp_path: Path) -> None:
    world = world_under(tmp_path, processes=_CutShort())
    assert "broke off" in _why(ask_terminal(world))


@pytest.mark.parametrize("shell", ["/bin/busybox", "/usr/sbin/nologin", "/bin/false"])
def test_account_without_a_real_shell_gets_bash(tmp_path: Path, shell: str) -> None:
    put(tmp_path, "/bin/bash")
    world = world_under(tmp_path)
    assert usable_shell(replace(world, surroundings=replace(world.surroundings, login_shell=shell))) == "/bin/bash"


def test_own_environment_costs_no_process(tmp_path: Path) -> None:
    put(tmp_path, "/opt/cuda/bin/nvcc", mode=0o755)
    link(tmp_path, "/usr/bin/nvcc", "/opt/cuda/bin/nvcc")
    world = world_under(tmp_path, variables={"PATH": "/no:/usr/bin", "CUDA_HOME": "/opt/cuda", "EDITOR": "vi"})
    fact = own_terminal(world)
    assert isinstance(fact, Known)
    assert [(variable.name, variable.value) for variable in fact.value.variables] == [
        ("CUDA_HOME", "/opt/cuda"),
        ("PATH", "/no:/usr/bin"),
    ]
    assert [(one.path, one.real_path) for one in fact.value.commands] == [("/usr/bin/nvcc", "/opt/cuda/bin/nvcc")]
    assert isinstance(world.processes, ScriptedProcesses)
    assert world.processes.asked == []


def test_own_environment_is_without_what_a_bundle_put_in(tmp_path: Path) -> None:
    bundle = {"_PYI_ARCHIVE_FILE": "x", "LD_LIBRARY_PATH": "/tmp/_MEI1", "LD_LIBRARY_PATH_ORIG": "/opt/lib"}
    fact = own_terminal(world_under(tmp_path, variables=bundle))
    assert isinstance(fact, Known)
    assert fact.value.variables == (Variable("LD_LIBRARY_PATH", "/opt/lib"),)


def test_file_that_may_not_run_is_no_command(tmp_path: Path) -> None:
    put(tmp_path, "/a/nvcc", mode=0o644)
    put(tmp_path, "/b/nvcc", mode=0o755)
    assert find_command(Files(str(tmp_path)), "relative::/a:/b", "nvcc")[0].path == "/b/nvcc"


def test_variables_that_matter_are_sorted() -> None:
    found = that_matter({"TORCH_HOME": "/t", "PATH": "/p", "PYTORCH_HUB_TOKEN": "s", "SHELL": "/bin/sh", "CUDACXX": "/c"})
    assert [variable.name for variable in found] == ["CUDACXX", "PATH", "TORCH_HOME"]


FILES_OF_BASH = {
    ".bashrc": '[ -n "$SSH_CLIENT" ] && export CUDA_BIN=/over-ssh\n' + BASHRC_OF_DEBIAN + "export CUDA_HOME=/rc\n",
    ".profile": 'export CUDA_PATH=/profile\n[ -n "$BASH_VERSION" ] && . ~/.bashrc\n',
}
FILES_OF_ZSH = {
    ".zshenv": "export CUDA_PATH=/env\n",
    ".zshrc": "export CUDA_HOME=/rc\n",
    ".zprofile": "export CUDA_ROOT=/profile\n",
}


def _held(home: Path, opening: Opening, shell: str) -> set[str]:
    asked = ask_shell(_world(home, shell), opening)
    assert isinstance(asked.terminal, Known), asked
    assert asked.seconds > 0
    return {one.value for one in asked.terminal.value.variables if one.name.startswith("CUDA_")}


@pytest.mark.parametrize(
    ("opening", "held"),
    [
        (Opening.TERMINAL, {"/rc", "/profile"}),
        (Opening.LOGIN, {"/rc", "/profile"}),
        (Opening.LOGIN_COMMAND, {"/profile"}),
        (Opening.DESKTOP, {"/profile"}),
        (Opening.SSH_COMMAND, {"/over-ssh"}),
        (Opening.COMMAND, set()),
    ],
)
def test_opening_decides_which_files_bash_reads(home: Path, opening: Opening, held: set[str]) -> None:
    for name, words in FILES_OF_BASH.items():
        put(home, name, words)
    assert _held(home, opening, "/bin/bash") == held


@pytest.mark.needs("zsh")
@pytest.mark.parametrize(("opening", "held"), [(Opening.LOGIN, {"/env", "/rc", "/profile"}), (Opening.COMMAND, {"/env"})])
def test_opening_decides_which_files_zsh_reads(home: Path, opening: Opening, held: set[str]) -> None:
    for name, words in FILES_OF_ZSH.items():
        put(home, name, words)
    assert _held(home, opening, "/usr/bin/zsh") == held


@pytest.mark.needs("fish")
@pytest.mark.parametrize("opening", [Opening.LOGIN, Opening.COMMAND])
def test_fish_reads_its_configuration_always(home: Path, opening: Opening) -> None:
    put(home, ".config/fish/config.fish", "set -gx CUDA_HOME /fish\n")
    assert _held(home, opening, "/usr/bin/fish") == {"/fish"}
