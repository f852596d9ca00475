"""What of a machine may leave it: no planted secret does, and what is found on it stays."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from gpuassist.model.fact import Known, value_or
from gpuassist.model.machine import Machine, decode_machine, encode_machine
from gpuassist.model.past import Direction, MachineChange, Subject
from gpuassist.model.shell import Variable
from gpuassist.model.text import text, verbatim
from gpuassist.model.words import ENGLISH
from gpuassist.session.harmless.machine import RULES, Sieve
from gpuassist.session.harmless.stand_ins import LEFT_OUT, TakenKind
from gpuassist.session.harmless.strings import HarmlessStrings
from gpuassist.session.harmless.vocabulary import VARIABLES
from gpuassist.system.resources import Resources
from tests.rows import for_each
from tests.session.planted import SECRETS, WAYS, in_turn, planted, told_in
from tests.session.test_recorded_machines import CASES, _facts
from tests.session.whole_machine import whole_machine
from tests.values import knowledge, machine


def sieve(home: str = "", user: str = "") -> Sieve:
    return Sieve(knowledge(), Resources(), home, user)


def _leaves(one: Machine, through: Sieve | None = None) -> str:
    return json.dumps(encode_machine((through or sieve()).machine(one), ENGLISH), ensure_ascii=False)


@cache
def _recorded(case: Path) -> Machine:
    return decode_machine(json.loads(_facts(case).read_text("utf-8")))


def test_there_are_at_least_forty_secrets() -> None:
    assert len(SECRETS) >= 40


def test_no_rule_lets_a_secret_through() -> None:
    strings = sieve().strings
    rules = {HarmlessStrings.words, HarmlessStrings.address, HarmlessStrings.product, *RULES.values()}
    found = [
        (rule.__name__, way, secret, told)
        for rule in rules
        for way, plant in WAYS.items()
        for secret in SECRETS
        for there in ("/usr/lib", "12.4", "")
        if (told := told_in(rule(strings, plant(there, secret))))
    ]
    assert found == []


def test_no_variable_lets_a_secret_through() -> None:
    strings = sieve().strings
    found = [
        (name, way, secret, told)
        for name in (
            *sorted(VARIABLES)[::9],
            "CUDA_VISIBLE_DEVICES",
            "NVCC_APPEND_FLAGS",
            "TORCH_CUDA_ARCH_LIST",
            "UV_INDEX_URL",
            "CC",
        )
        for way, plant in WAYS.items()
        for secret in SECRETS
        if (told := told_in(strings.variable(name, plant("1", secret))))
    ]
    assert found == []


@pytest.mark.parametrize("way", WAYS)
def test_no_field_of_any_machine_lets_a_secret_through(way: str) -> None:
    found = []
    for start in range(3):
        plant = in_turn(start * 17, way)
        whole = whole_machine(lambda field, plant=plant: plant(f"/usr/lib/{field}"), 2)  # type: ignore[misc]
        found += told_in(_leaves(whole))
    assert found == []


@for_each("case", CASES)
def test_no_secret_in_a_recorded_machine_leaves(case: Path) -> None:
    ways = tuple(WAYS)
    place = CASES.index(case)
    assert told_in(_leaves(planted(_recorded(case), in_turn(place, ways[place % len(ways)])))) == []


@for_each("case", CASES[::9])
def test_what_has_left_leaves_again_as_it_is(case: Path) -> None:
    once = sieve().machine(_recorded(case))
    assert encode_machine(sieve().machine(once), ENGLISH) == encode_machine(once, ENGLISH)


def test_a_change_tells_no_secret() -> None:
    through = sieve()
    for way in WAYS:
        plant = in_turn(3, way)
        for subject in Subject:
            name, before, after, place, at, earliest, latest, by = (plant("/usr/lib") for _ in range(8))
            one = MachineChange(subject, Direction.CHANGED, name, before, after, place, at, earliest, latest, by)
            one = replace(
                one, user=plant("anna"), sources=(plant("apt"),), packages=(plant("nvidia-driver-580 580.95.05"),), undo=plant("")
            )
            told = through.change(one)
            assert told_in(repr(told)) == []
            assert told.undo == ""


# Without a vowel: Hypothesis takes words out of the program's own modules as well, and of those some are known.
_LETTERS = st.text("bcdfghjklmnpqrstvwxzBCDFGHJKLMNPQRSTVWXZ", min_size=12, max_size=20)
_AROUND = st.sampled_from(["", "/", "-", ":", "=", "12.4", " ", "/home/", "nvidia-", "https://", "(", "_", ".", "GPU-", "cu"])


@settings(max_examples=60, deadline=None)
@given(_AROUND, _LETTERS, _AROUND)
def test_no_word_that_nobody_knows_leaves_whatever_stands_around_it(before: str, word: str, after: str) -> None:
    strings = _SIEVE.strings
    for rule in {HarmlessStrings.words, HarmlessStrings.address, *RULES.values()}:
        assert word not in rule(strings, before + word + after)


@settings(max_examples=60, deadline=None)
@given(st.text(max_size=60))
def test_whatever_a_string_is_nothing_is_raised(words: str) -> None:
    for rule in {HarmlessStrings.words, *RULES.values()}:
        assert isinstance(rule(_SIEVE.strings, words), str)


_SIEVE = sieve()

NAMES = (
    ("/home/anna/thesis/.venv/bin/python", "/home/user/dir-1/.venv/bin/python"),
    ("/home/anna/.bashrc:12", "/home/user/.bashrc:12"),
    (
        "/usr/local/cuda-12.8/targets/x86_64-linux/lib/stubs/libcuda.so",
        "/usr/local/cuda-12.8/targets/x86_64-linux/lib/stubs/libcuda.so",
    ),
    ("/lib/modules/6.8.0-60-generic/updates/dkms/nvidia.ko.zst", "/lib/modules/6.8.0-60-generic/updates/dkms/nvidia.ko.zst"),
    ("/lib/modules/6.8.0-acmecorp/nvidia.ko", "/lib/modules/6.8.0-custom1/nvidia.ko"),
    ("/boot/initrd.img-6.8.0-60-generic", "/boot/initrd.img-6.8.0-60-generic"),
    ("/etc/modprobe.d/acme.conf:3", "/etc/modprobe.d/file-1.conf:3"),
    ("/opt/acme/lib/libacme.so.2", "/opt/dir-1/lib/lib-1.so.2"),
    ("/usr/lib/x86_64-linux-gnu/libcuda.so.580.95.05", "/usr/lib/x86_64-linux-gnu/libcuda.so.580.95.05"),
    ("/mnt/c/Users/anna/x", "/mnt/c/Users/user/dir-1"),
    ("/run/user/84713/x", "/run/user/dir-1/dir-2"),
    ("/dev/nvidia0", "/dev/nvidia0"),
    ("/proc/4711/stat", "/proc/4711/stat"),
    ("", ""),
)


@pytest.mark.parametrize(("path", "told"), NAMES)
def test_of_a_path_what_users_chose_is_replaced(path: str, told: str) -> None:
    assert sieve().strings.places.path(path) == told


def test_the_home_of_whoever_makes_the_report_is_known_wherever_it_lies() -> None:
    assert sieve("/srv/people/anna", "anna").strings.places.path("/srv/people/anna/x.py") == "/home/user/file-1.py"


def test_equal_names_stay_equal_and_others_stay_others() -> None:
    places = sieve().strings.places
    one, two, other = places.path("/data/a/x"), places.path("/data/a/y"), places.path("/data/b/x")
    assert one.rpartition("/")[0] == two.rpartition("/")[0]
    assert len({one, two, other}) == 3


def test_environments_and_uuids_have_stand_ins_that_hold_together() -> None:
    uuid, there = "GPU-8f3a1c55-77d1-4e0b-9c2d-5b1f0a6e4c3d", machine()
    assert isinstance(there.gpus, Known)
    assert isinstance(there.shell.new_terminal, Known)
    chosen = replace(there.shell.new_terminal.value, variables=(Variable("CUDA_VISIBLE_DEVICES", "GPU-8f3a1c55"),))
    gpus = Known((replace(there.gpus.value[0], uuid=Known(uuid, "NVML")),), "NVML")
    told = sieve().machine(replace(there, gpus=gpus, shell=replace(there.shell, new_terminal=Known(chosen, "bash"))))
    (now,) = (value_or(one.uuid, "") for one in value_or(told.gpus, ()))
    terminal = told.shell.new_terminal
    assert isinstance(terminal, Known)
    assert now.startswith(terminal.value.variable("CUDA_VISIBLE_DEVICES"))
    assert "8f3a" not in now


STRINGS = (
    ("version", "2.5.1+cu124", "2.5.1+cu124"),
    ("version", "580.95.05-0ubuntu0.24.04.1", "580.95.05-0ubuntu0.24.04.1"),
    ("version", "2:595.45.04-1.fc43", "2:595.45.04-1.fc43"),
    ("version", "2.5.1+acme", f"2.5.1{LEFT_OUT}"),
    ("version", "20261120", "20261120"),
    ("system_package", "linux-modules-nvidia-580-open-6.8.0-60-generic", "linux-modules-nvidia-580-open-6.8.0-60-generic"),
    ("system_package", "nvidia-driver-acme", "package-1"),
    ("system_package", "nvidia-*", "nvidia-*"),
    ("python_package", "nvidia-cudnn-cu12", "nvidia-cudnn-cu12"),
    ("python_package", "acme-model", "package-1"),
    ("requirement", "<3,>=2.3", "<3,>=2.3"),
    ("build", "py3.11_cuda12.4_cudnn9.1.0_0", "py3.11_cuda12.4_cudnn9.1.0_0"),
    (
        "product",
        "NVIDIA RTX PRO 6000 Blackwell Max-Q Workstation Edition",
        "NVIDIA RTX PRO 6000 Blackwell Max-Q Workstation Edition",
    ),
    ("command_line", "/usr/bin/python3 /usr/bin/nvitop", "python3 nvitop"),
    ("command_line", "python train.py --key x", f"python {LEFT_OUT}"),
    ("container", "docker 3f2a51c07d1e", "docker 000000000001"),
    ("owner", "root:video", "root:video"),
    ("setting", "https://download.pytorch.org/whl/cu128", "https://download.pytorch.org/whl/cu128"),
    ("setting", "https://pypi.acme.example/simple", "https://index-1.invalid/simple"),
    ("setting", "conda-forge", "conda-forge"),
    ("words", "NVML nvmlDeviceGetUUID", "NVML nvmlDeviceGetUUID"),
    ("words", "2026-11-21T09:00:00.000+00:00", "2026-11-21T09:00:00.000+00:00"),
    ("words", "", ""),
)


@pytest.mark.parametrize(("rule", "words", "told"), STRINGS)
def test_what_is_known_stays_and_the_rest_is_left_out(rule: str, words: str, told: str) -> None:
    assert getattr(sieve().strings, rule)(words) == told


def test_a_sentence_of_ours_stays_and_what_was_put_into_it_is_looked_at() -> None:
    told = sieve().text(text("{path} could not be read: {words}", path="/home/anna/x/y", words="Permission denied"))
    assert ENGLISH(told) == "/home/user/dir-1/dir-2 could not be read: Permission denied".replace("dir-2", "dir-2")
    recorded = sieve().text(verbatim("/home/anna/thesis could not be read: Permission denied"))
    assert "could not be read" in ENGLISH(recorded)
    assert "anna" not in ENGLISH(recorded)
    assert "thesis" not in ENGLISH(recorded)


def test_what_was_taken_out_is_counted_by_kind() -> None:
    through = sieve("/home/anna", "anna")
    for path in ("/home/anna/a", "/home/anna/b", "/home/bob/a"):
        through.strings.places.path(path)
    told = {one.kind: (one.count, one.stand_in) for one in through.taken_out}
    assert told == {TakenKind.USER: (2, "user"), TakenKind.FOLDER: (2, "dir-1")}


def test_contents_of_startup_files_and_unknown_variables_do_not_leave() -> None:
    told = sieve().machine(whole_machine(lambda field: "/usr/lib"))
    files, terminal = value_or(told.shell.startup_files, ()), told.shell.new_terminal
    assert not any(isinstance(one.content, Known) for one in files)
    assert isinstance(terminal, Known)
    assert terminal.value.variables == ()
    assert told.note == ""
