"""Every command line renders, with its parameters quoted, for every family that has it."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuassist.knowledge.commands import CommandError, Commands, parameters_of
from gpuassist.knowledge.families import Family
from gpuassist.knowledge.records import CommandRecord
from gpuassist.model.finding import Action
from tests.knowledge.shipped import KNOWLEDGE

COMMANDS = KNOWLEDGE.commands
NASTY = "/home/me/my env; rm -rf $HOME/`x` 'y'"
ROOT = re.compile(r"\bsudo\b")
SEVERAL = {"packages", "requirements", "arguments", "sections"}  # each is several words


def fill(record: CommandRecord, value: str) -> tuple[str, ...]:
    return COMMANDS.render(record.key, record.family, dict.fromkeys(record.parameters, value))


def test_key_and_family_name_one_record() -> None:
    lines = [(record.key, record.family) for record in COMMANDS.records]
    assert len(lines) == len(set(lines)) > 200


def test_keys_are_kebab_case() -> None:
    assert all(re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", key) for key in COMMANDS.keys)


def test_every_record_has_lines() -> None:
    assert all(record.lines and all(line.strip() for line in record.lines) for record in COMMANDS.records)


def test_every_record_renders_with_its_parameters() -> None:
    for record in COMMANDS.records:
        for line in fill(record, "12.4"):
            assert "{version" not in line
            assert line == line.strip()


def test_every_parameter_shows_in_the_lines() -> None:
    for record in COMMANDS.records:
        for name in record.parameters:
            values = dict.fromkeys(record.parameters, "x") | {name: "needle"}
            assert "needle" in " ".join(COMMANDS.render(record.key, record.family, values)), (record.key, name)


def test_parameters_of_one_key_agree_in_name() -> None:
    allowed = {"branch", "version", "tag", "python", "name", "cuda", "path", "root", "file", "directory", "compiler", "library"}
    allowed |= {"architectures", "architecture", "repository", "major", "index", "group", "pid", "image", "container", "value"}
    allowed |= {"devices", "id", "requirement", "package", "program", "options", "variable", "unit", "goal", "torch"}
    allowed |= SEVERAL | {"prefix", "kernel", "kind", "line", "stream"}
    assert {name for record in COMMANDS.records for name in record.parameters} <= allowed


@pytest.mark.needs("bash")
def test_every_line_is_a_shell_line() -> None:
    script = "\n".join(line for record in COMMANDS.records for line in fill(record, NASTY))
    bash = shutil.which("bash")
    assert bash is not None
    outcome = subprocess.run([bash, "-n"], input=script, capture_output=True, text=True, check=False)
    assert outcome.stderr == ""


def test_nasty_parameter_stays_part_of_its_word() -> None:
    for record in COMMANDS.records:
        if SEVERAL & set(record.parameters):
            continue
        for plain, nasty in zip(fill(record, "needle"), fill(record, NASTY), strict=True):
            assert shlex.split(nasty) == [word.replace("needle", NASTY) for word in shlex.split(plain)]


def test_several_words_are_quoted_one_by_one() -> None:
    words = "torch==2.7.1 numpy<2 $(reboot)"
    (line,) = COMMANDS.render("packages-install", Family.ANY, {"python": "/p/bin/python", "requirements": words})
    assert line == "/p/bin/python -m pip install torch==2.7.1 'numpy<2' '$(reboot)'"


def test_root_lines_say_so() -> None:
    for record in COMMANDS.records:
        if any(ROOT.search(line) for line in record.lines):
            assert record.needs_root, record.key


def test_root_records_ask_for_root_in_their_lines() -> None:
    asks = re.compile(r"\b(sudo|yay|ujust)\b")
    assert all(any(asks.search(line) for line in record.lines) for record in COMMANDS.records if record.needs_root)


def test_only_the_reboot_reboots() -> None:
    rebooting = {record.key for record in COMMANDS.records if record.action is Action.REBOOT}
    assert rebooting == {"reboot"}


def test_no_line_installs_the_metapackage_with_a_driver() -> None:
    lines = [line for record in COMMANDS.records for line in record.lines if record.key.startswith("toolkit-install")]
    assert not [line for line in lines if re.search(r"\b(apt|dnf|zypper) install cuda( |$)", line)]


@pytest.mark.parametrize(
    ("key", "family", "parameters", "lines"),
    [
        ("toolkit-install", Family.UBUNTU, {"version": "12.8"}, ("sudo apt install cuda-toolkit-12-8",)),
        ("toolkit-install", Family.ARCH, {"version": "12.8"}, ("sudo pacman -S cuda",)),
        ("driver-install-open", Family.UBUNTU, {"branch": 595}, ("sudo apt install nvidia-driver-595-open",)),
        ("driver-install-proprietary", Family.UBUNTU, {"branch": 580}, ("sudo apt install nvidia-driver-580",)),
        ("gcc-install", Family.FEDORA, {"version": 14}, ("sudo dnf install gcc14 gcc14-c++",)),
        ("use-cuda", Family.DEBIAN, {"version": "12.4"}, ("gpuassist use cuda 12.4",)),
        ("check-driver", Family.ANY, {}, ("nvidia-smi",)),
        (
            "torch-install",
            Family.ANY,
            {"python": "/home/me/my env/bin/python", "version": "2.7.1", "tag": "cu128"},
            (
                "'/home/me/my env/bin/python' -m pip install torch==2.7.1 torchvision --index-url https://download.pytorch.org/whl/cu128",
            ),
        ),
        (
            "library-path-for-linking",
            Family.ANY,
            {"directory": "/usr/local/cuda/lib64"},
            ("export LIBRARY_PATH=/usr/local/cuda/lib64${LIBRARY_PATH:+:$LIBRARY_PATH}",),
        ),
    ],
)
def test_command_renders(key: str, family: Family, parameters: dict[str, object], lines: tuple[str, ...]) -> None:
    assert COMMANDS.render(key, family, parameters) == lines


def test_first_family_with_the_command_serves() -> None:
    lines = COMMANDS.render("toolkit-install", (Family.WSL, Family.UBUNTU), {"version": "12.8"})
    assert lines == ("sudo apt install cuda-toolkit-12-8",)


def test_special_family_goes_before_the_distribution() -> None:
    lines = COMMANDS.render("driver-install-open", (Family.WSL, Family.UBUNTU), {"branch": 580})
    assert lines == ("wsl.exe --update", "wsl.exe --shutdown")


def test_family_without_the_command_has_no_lines() -> None:
    assert COMMANDS.render("driver-install-open", Family.CONTAINER, {"branch": 580}) == ()
    assert COMMANDS.record("driver-install-open", Family.ANY) is None


def test_unknown_key_is_an_error() -> None:
    with pytest.raises(CommandError, match="no-such-command"):
        COMMANDS.render("no-such-command", Family.ANY, {})


def test_missing_parameter_is_an_error() -> None:
    with pytest.raises(CommandError, match="torch-install: python, tag"):
        COMMANDS.render("torch-install", Family.ANY, {"version": "2.7.1"})


def test_parameter_too_many_is_left_out() -> None:
    assert COMMANDS.render("check-driver", Family.ANY, {"version": "12.4"}) == ("nvidia-smi",)


def test_parameters_are_found_once_and_in_order() -> None:
    assert parameters_of(["a {version:dashed} {tag}", "{version} ${{X:+:$X}}"]) == ("version", "tag")


@given(st.text(min_size=1, max_size=30).filter(lambda words: "\x00" not in words))
def test_any_value_stays_one_word(value: str) -> None:
    record = CommandRecord(
        "show", Family.ANY, ("show {value} end",), ("value",), needs_root=False, action=Action.COMMAND, source="", checked=""
    )
    (line,) = Commands({(record.key, record.family.value): record}).render("show", Family.ANY, {"value": value})
    assert shlex.split(line) == ["show", value, "end"]
