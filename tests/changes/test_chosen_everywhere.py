"""A toolkit is chosen in files that once lost it, or called it chosen where it was not: with real shells, on a real terminal."""

from __future__ import annotations

from pathlib import Path

import pytest

from gpuassist.changes.carry_out import carry_out
from gpuassist.changes.journal import Journal
from gpuassist.changes.undo import undo
from gpuassist.changes.wishes import LdLibraryPath
from gpuassist.model.fact import Known
from gpuassist.model.plan import Result
from gpuassist.model.shell import Terminal
from gpuassist.model.words import ENGLISH
from gpuassist.shellfiles.edit import take_back
from gpuassist.system.terminal import Opening
from tests.changes.choosing import answers, holds, planned, typed, used, world_of_two
from tests.shellfiles.written import older_file, older_lines

FISH = pytest.mark.needs("fish")
GUARD = "case $- in *i*) ;; *) return;; esac\n"
FIRST = "export PATH={home}/cuda-11.7/bin:$PATH\n"


def _put(home: Path, **files: str) -> dict[Path, str]:
    written = {home / name.replace("DOT_", "."): content.replace("{home}", str(home)) for name, content in files.items()}
    for path, content in written.items():
        path.write_text(content)
    return written


def _new(content: str) -> str:
    return content.replace("cuda-11.7", "cuda-12.4")


# What is written in place of each is the version alone, and every way of starting a shell that had the toolkit has the new one.
IN_PLACE = {
    "a line above a hand-over": {"DOT_bashrc": FIRST + "exec fish\n"},
    "one that only a terminal is handed over by": {"DOT_bashrc": FIRST + "if [ -t 1 ]; then\nexec fish\nfi\n"},
    "a line above what ends the file": {"DOT_bashrc": FIRST + "return 0\nexport A=1\n"},
    "a list that nobody may change any more": {"DOT_bashrc": FIRST + "readonly PATH\n"},
    "a line of the login file": {"DOT_bash_profile": FIRST},
    "a line that serves scripts, too": {"DOT_bashrc": FIRST + GUARD + "export A=1\n", "DOT_profile": ". ~/.bashrc\n"},
    "what scripts of a terminal alone read": {
        "DOT_bashrc": "export BASH_ENV=$HOME/.bash_env\n",
        "DOT_bash_env": FIRST + 'nvcc() { {home}/cuda-11.7/bin/nvcc "$@"; }\n',
    },
    "an alias": {"DOT_bashrc": FIRST + "alias nvcc={home}/cuda-11.7/bin/nvcc\n"},
    "what is derived": {
        "DOT_bashrc": "export CUDA_HOME={home}/cuda-11.7\nexport PATH=$CUDA_HOME/bin:$PATH\n"
        "export XLA_FLAGS=--xla_gpu_cuda_data_dir=$CUDA_HOME\n"
        "export CUDNN_INCLUDE_DIR=$CUDA_HOME/include CUDA_PATH=$CUDA_HOME\n"
    },
    "every variable": {
        "DOT_bashrc": FIRST + "export CUDACXX={home}/cuda-11.7/bin/nvcc CUDA_ROOT={home}/cuda-11.7 CUDA_PATH={home}/cuda-11.7\n"
        "export LDFLAGS=-L{home}/cuda-11.7/lib64 CUDA_TOOLKIT_ROOT_DIR={home}/cuda-11.7\n"
    },
}


@FISH
@pytest.mark.parametrize("name", IN_PLACE)
def test_the_words_are_replaced_and_every_shell_follows(home: Path, name: str) -> None:
    files = _put(home, **IN_PLACE[name])
    world = world_of_two(home)
    outcome = used(world)
    assert (outcome.outcome.result, holds(outcome)) == (Result.MODIFIED, True)
    for path, content in files.items():
        assert take_back(path.read_bytes()).decode() == _new(content)
    assert isinstance(outcome.shells[0].after.terminal, Known)
    for change in outcome.shells:
        assert "cuda-11.7" not in change.after.nvcc()
        assert bool(change.after.nvcc()) >= bool(change.before.nvcc())
        seen = change.after.terminal.value if isinstance(change.after.terminal, Known) else Terminal("", (), ())
        said = (*(one.value for one in seen.variables), *(one.text for one in seen.shadows))
        assert not any("cuda-11.7" in words for words in said)
    assert "cuda-11.7" not in answers(home, "bash", "-l", "-i", ask="env; type -a nvcc")
    undo(world, "")
    assert {path: path.read_text() for path in files} == files


@FISH
def test_a_terminal_that_hands_over_finds_it(home: Path) -> None:
    _put(home, DOT_bashrc=FIRST + "if [ -t 1 ]; then exec fish; fi\n")
    assert holds(used(world_of_two(home)))
    assert f"is={home}/cuda-12.4/bin/nvcc" in typed(home, "echo is=(command -v nvcc)")


def test_login_shells_and_the_desktop_keep_a_toolkit_that_a_block_gives(home: Path) -> None:
    """The login file gives it in a way that no word can be replaced in, and does not read .bashrc."""
    files = _put(home, DOT_bash_profile="MAJOR=11\nexport PATH={home}/cuda-$MAJOR.7/bin:$PATH\n")
    world = world_of_two(home)
    outcome = used(world)
    assert holds(outcome)
    found = {change.after.opening: change.after.nvcc() for change in outcome.shells}
    for way in (Opening.TERMINAL, Opening.LOGIN, Opening.DESKTOP, Opening.LOGIN_COMMAND):
        assert found[way] == f"{home}/cuda-12.4/bin/nvcc"
    undo(world, "")
    assert {path: path.read_text() for path in files} == files
    assert not (home / ".bashrc").exists()


def test_no_empty_element_is_made_on_the_loaders_path(home: Path) -> None:
    content = "export LD_LIBRARY_PATH={home}/cuda-11.7/lib64:$LD_LIBRARY_PATH\nexport LD_LIBRARY_PATH=$LD_LIBRARY_PATH:/opt/x\n"
    _put(home, DOT_bashrc=FIRST + content)
    outcome = carry_out(world := world_of_two(home), planned(world, libraries=LdLibraryPath.OFF))
    assert holds(outcome)
    found = {change.before.opening: change for change in outcome.shells}[Opening.BARE_TERMINAL]
    assert isinstance(found.after.terminal, Known)
    assert found.after.terminal.value.variable("LD_LIBRARY_PATH") == "/opt/x"


def test_what_made_a_shell_lose_its_nvcc_is_taken_back(home: Path) -> None:
    """The owner's own line throws the list away where the older toolkit is not on it."""
    guard = "case $PATH in *uda-11.7/bin:*) ;; *) PATH=/usr/bin:/bin ;; esac\n"
    files = _put(home, DOT_bashrc=FIRST + guard)
    world = world_of_two(home)
    outcome = used(world)
    assert (outcome.outcome.result, outcome.wrote, outcome.receipts) == (Result.FAILED, False, ())
    assert outcome.rolled_back is not None
    assert "finds no nvcc since" in ENGLISH(outcome.rolled_back)
    assert "every file is as it was" in ENGLISH(outcome.outcome.text)
    assert {path: path.read_text() for path in files} == files
    assert all(entry.receipt.undone_at for entry in Journal.of(world).entries())


def test_a_block_that_was_edited_by_hand_is_named_before_it_is_replaced(home: Path) -> None:
    _put(home, DOT_bashrc="alias x=y\n")
    world = world_of_two(home)
    assert holds(used(world))
    rc = home / ".bashrc"
    assert not any("edited by hand" in ENGLISH(note) for note in planned(world, "11.7").plan.notes)
    rc.write_bytes(rc.read_bytes().replace(b"export CUDA_HOME=", b"export MINE=1 CUDA_HOME="))
    edited = rc.read_bytes()
    plan = planned(world, "11.7")
    assert any(f"the block in {rc} was edited by hand" in ENGLISH(note) for note in plan.plan.notes)
    assert carry_out(world, plan).outcome.result is Result.MODIFIED
    undo(world, "")
    assert rc.read_bytes() == edited


def test_a_block_of_before_is_replaced_where_it_still_chooses(home: Path) -> None:

    _put(home, DOT_bashrc="alias x=y\n")
    rc = home / ".bashrc"
    rc.write_bytes(rc.read_bytes() + older_file("20260101-000000-abcdef", older_lines(f"{home}/cuda-11.7")))
    before = rc.read_bytes()
    world = world_of_two(home)
    assert holds(used(world))
    assert rc.read_bytes().count(b"# >>> gpuassist") == 1
    assert b"while" not in rc.read_bytes()
    undo(world, "")
    assert rc.read_bytes() == before
