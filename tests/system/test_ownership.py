"""Whose a file is: what root does not run, whose shell is asked, and which directory of ours is used."""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping
from pathlib import Path

import pytest
from msgspec.structs import replace

from gpuassist.model.fact import Known, Unknown
from gpuassist.model.words import ENGLISH
from gpuassist.system.files import Files
from gpuassist.system.ownership import (
    open_to_others,
    own_cache,
    require_own_state,
    strangers_home,
    why_no_shell,
    why_not_run,
    why_state_untrusted,
)
from gpuassist.system.shell_trace import trace_startup
from gpuassist.system.surroundings import Surroundings
from gpuassist.system.terminal import Opening, ask_shell
from gpuassist.system.untrusted_state import UntrustedStateError
from gpuassist.system.world import World
from tests.changes.homes import world_at
from tests.fakes import put
from tests.strangers import NOBODY, OwnedFiles, given_away


def _root(files: Files, home: str = "/root", **variables: str) -> World:
    around = Surroundings(home, "root", 0, {"PATH": "/usr/bin:/bin", **variables}, home, "/bin/bash")
    return World(around, files)


def _program(folder: Path, name: str = "nvcc") -> str:
    return str(put(folder, name, "#!/bin/sh\n", mode=0o755))


def _why(world: World, *command: str) -> str:
    refused = why_not_run(world, command)
    return "" if refused is None else ENGLISH(refused)


@pytest.mark.parametrize("uid", [0, 1000])
def test_the_systems_own_programs_are_run(uid: int) -> None:
    world = _root(Files())
    world = replace(world, surroundings=replace(world.surroundings, uid=uid))
    assert why_not_run(world, ("/bin/sh", "-c", "true")) is None
    assert why_not_run(world, ("sh",)) is None


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ((NOBODY, 0o755), "belongs to another user"),
        ((0, 0o777), "everybody may write"),
        ((0, 0o1777), "everybody may write"),  # nobody takes the program away, but everybody puts another beside it
    ],
)
def test_root_runs_no_program_from_where_others_write(tmp_path: Path, given: tuple[int, int], said: str) -> None:
    program = _program(tmp_path / "bin")
    files = OwnedFiles(given={str(tmp_path / "bin"): given})
    assert said in _why(_root(files), program)
    assert _why(_root(OwnedFiles()), program) == ""


@pytest.mark.parametrize("given", [(NOBODY, 0o755), (0, 0o757)])
def test_what_leads_to_a_program_counts_too(tmp_path: Path, given: tuple[int, int]) -> None:
    program = _program(tmp_path / "shared" / "bin")
    assert "shared: " in _why(_root(OwnedFiles(given={str(tmp_path / "shared"): given})), program)
    (tmp_path / "link").symlink_to(program)
    assert "shared: " in _why(_root(OwnedFiles(given={str(tmp_path / "shared"): given})), str(tmp_path / "link"))


def test_a_sticky_directory_on_the_way_lets_nobody_replace_what_is_roots(tmp_path: Path) -> None:
    program = _program(tmp_path / "tmp" / "bin")
    assert _why(_root(OwnedFiles(given={str(tmp_path / "tmp"): (0, 0o1777)})), program) == ""


def test_a_strangers_symlink_leads_root_nowhere(tmp_path: Path) -> None:
    _program(tmp_path / "bin")
    (tmp_path / "nvcc").symlink_to("bin/nvcc")
    files = OwnedFiles(given={str(tmp_path / "nvcc"): (NOBODY, 0o777)})
    assert "belongs to another user" in _why(_root(files), str(tmp_path / "nvcc"))


def test_an_ordinary_user_runs_what_he_finds(tmp_path: Path) -> None:
    program = _program(tmp_path / "bin")
    (tmp_path / "bin").chmod(0o777)
    world = _root(Files())
    assert why_not_run(replace(world, surroundings=replace(world.surroundings, uid=1000)), (program,)) is None


@pytest.mark.parametrize("element", ["", ".", "here/bin"])
def test_a_name_is_not_run_from_wherever_root_stands(tmp_path: Path, element: str) -> None:
    _program(tmp_path, "uv")
    assert "current directory" in _why(_root(OwnedFiles(), PATH=f"{element}:/usr/bin"), "uv")


def test_a_name_is_the_program_that_path_finds(tmp_path: Path) -> None:
    _program(tmp_path / "bin", "uv")
    files = OwnedFiles(given={str(tmp_path / "bin"): (NOBODY, 0o755)})
    assert "belongs to another user" in _why(_root(files, PATH=f"{tmp_path}/bin:/usr/bin"), "uv")
    assert _why(_root(files, PATH="/usr/bin"), "no such program") == ""


@pytest.mark.parametrize(
    ("groups", "refused"),
    [
        ("staff:x:50:\n", False),  # Debian's /usr/local: nobody is in it
        ("staff:x:50:root\n", False),
        ("staff:x:50:you\n", False),
        ("staff:x:50:you,other\n", True),
        ("", True),  # who is in it is not known here
    ],
)
def test_a_group_is_others_where_others_are_in_it(tmp_path: Path, groups: str, refused: bool) -> None:
    _check_group(tmp_path, groups, "you:x:1000:1000::/home/you:/bin/sh\n", refused=refused)


@pytest.mark.parametrize(("gid", "refused"), [(50, True), (51, False)])
def test_whose_own_group_it_is_counts(tmp_path: Path, gid: int, refused: bool) -> None:
    _check_group(tmp_path, "staff:x:50:\n", f"other:x:1001:{gid}::/home/other:/bin/sh\n", refused=refused)


def _check_group(root: Path, groups: str, users: str, *, refused: bool) -> None:
    put(root, "/etc/group", groups)
    put(root, "/etc/passwd", users)

    class OfGroup(Files):
        def status(self, path: str) -> os.stat_result:
            found = super().status(path)
            return os.stat_result((stat.S_IFDIR | 0o775, *found[1:4], 1000, 50, *found[6:]))

    world = World(Surroundings("/home/you", "you", 1000), OfGroup(str(root)))
    assert (open_to_others(world, "/etc") is not None) is refused


KINDS: Mapping[str, str] = {"/bin/bash": ".bashrc", "/usr/bin/zsh": ".zshrc", "/usr/bin/fish": ".config/fish/config.fish"}


@pytest.mark.parametrize("opening", list(Opening))
def test_no_shell_is_asked_in_another_users_home(home: Path, opening: Opening) -> None:
    for name in (".bashrc", ".profile"):
        (home / name).write_text("touch ~/ran\n")
    world = given_away(world_at(home), home)
    asked = ask_shell(world, opening).terminal
    assert isinstance(asked, Unknown)
    assert "belongs to another user" in ENGLISH(asked.reason)
    assert not (home / "ran").exists()


def test_no_shell_is_watched_in_another_users_home(home: Path) -> None:
    (home / ".bashrc").write_text("touch ~/ran\n")
    trace = trace_startup(given_away(world_at(home), home), ("PATH",))
    assert isinstance(trace, Unknown)
    assert not (home / "ran").exists()


def test_ones_own_shell_is_asked(home: Path) -> None:
    assert isinstance(ask_shell(world_at(home), Opening.COMMAND).terminal, Known)


def test_a_container_user_without_an_entry_asks_his_shell() -> None:
    world = World(Surroundings("/", "1000", 1000), OwnedFiles())
    assert why_no_shell(world, "/bin/bash") is None
    assert strangers_home(world) is not None  # and nothing is written there


@pytest.mark.parametrize("shell", list(KINDS))
def test_root_runs_nobody_elses_start_up_file_in_its_own_home(home: Path, shell: str) -> None:
    file = put(home, KINDS[shell])
    files = OwnedFiles(given={str(file): (NOBODY, 0o644)})
    assert "start-up files of others" in _no_shell(_root(files, str(home)), "/bin/bash" if shell == "/bin/bash" else shell)
    assert "start-up files of others" not in _no_shell(_root(OwnedFiles(), str(home)), shell)


def test_root_runs_no_fish_of_another_users_configuration(home: Path) -> None:
    put(home, "theirs/fish/config.fish")
    files = OwnedFiles(given={str(home / "theirs"): (NOBODY, 0o755)})
    world = _root(files, str(home), XDG_CONFIG_HOME=str(home / "theirs"))
    assert "start-up files of others" in _no_shell(world, "/usr/bin/fish")


def test_root_runs_no_shell_that_others_put_there(home: Path) -> None:
    shell = _program(home / "bin", "bash")
    assert "is not run as root" in _no_shell(_root(OwnedFiles(given={shell: (NOBODY, 0o755)}), "/"), shell)


def _no_shell(world: World, shell: str) -> str:
    refused = why_no_shell(world, shell)
    return "" if refused is None else ENGLISH(refused)


def _state(home: Path) -> Path:
    state = home / ".local" / "state" / "gpuassist" / "journal"
    state.mkdir(parents=True)
    for place in (state, *list(state.parents)[:3]):
        place.chmod(0o755)  # whatever the umask of whoever made them
    return state


def _state_said(world: World) -> str:
    refused = why_state_untrusted(world, f"{world.surroundings.state()}/journal")
    return "" if refused is None else ENGLISH(refused)


def test_a_state_directory_as_other_programs_make_it_is_used(home: Path) -> None:
    assert _state_said(world_at(home)) == ""
    _state(home)
    assert _state_said(world_at(home)) == ""


@pytest.mark.parametrize("place", ["journal", "", ".."])
def test_a_state_directory_that_others_write_in_is_refused(home: Path, place: str) -> None:
    directory = (_state(home).parent / place).resolve()
    directory.chmod(0o757)
    said = _state_said(world_at(home))
    assert "everybody may write in it (mode 0757)" in said
    assert f"`chmod go-w {directory}`" in said
    with pytest.raises(UntrustedStateError):
        require_own_state(world_at(home), str(_journal(home)))


def test_a_base_like_tmp_holds_what_is_ours(home: Path) -> None:
    _state(home).parents[1].chmod(0o1777)
    assert _state_said(world_at(home)) == ""


@pytest.mark.parametrize("place", ["journal", "", ".."])
def test_a_state_directory_of_another_user_is_refused(home: Path, place: str) -> None:
    directory = (_state(home).parent / place).resolve()
    said = _state_said(given_away(world_at(home), directory))
    assert "belongs to another user" in said
    assert "XDG_STATE_HOME" in said


def test_a_symlink_to_ones_own_directory_is_used_and_one_to_anothers_is_not(home: Path) -> None:
    elsewhere = home / "data"
    elsewhere.mkdir(mode=0o755)
    (home / ".local").mkdir()
    (home / ".local" / "state").symlink_to(elsewhere)
    assert _state_said(world_at(home)) == ""
    assert "belongs to another user" in _state_said(given_away(world_at(home), elsewhere))


def test_a_cache_that_others_write_in_is_not_used(home: Path) -> None:
    assert own_cache(world_at(home)) == f"{home}/.cache/gpuassist"
    (home / ".cache").mkdir()
    (home / ".cache").chmod(0o777)
    assert own_cache(world_at(home)) != f"{home}/.cache/gpuassist"


def _journal(home: Path) -> Path:
    return home / ".local" / "state" / "gpuassist" / "journal"
