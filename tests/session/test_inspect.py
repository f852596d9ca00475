"""A machine from reading to answers: live, recorded and shipped ones."""

from __future__ import annotations

import json
import re
import time
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from gpuassist.context import Session
from gpuassist.detect.recording import RecordingError
from gpuassist.diagnose.judge import judge
from gpuassist.install.drivers.packages import surroundings_of
from gpuassist.knowledge.families import Family, families_of
from gpuassist.knowledge.tables import Knowledge
from gpuassist.model.fact import Known, Unknown
from gpuassist.model.finding import Answer, Diagnosis, Finding, Severity
from gpuassist.model.machine import Distribution, Host, Machine, encode_machine
from gpuassist.model.text import Text, text
from gpuassist.model.words import ENGLISH
from gpuassist.session.inspect import answers_of, examples, inspect, open_example, open_recording
from gpuassist.system.resources import Resources
from gpuassist.ui.leads import repairable_version
from tests.diagnose.test_rules import PROBLEMS
from tests.fakes import put, world_under
from tests.machines import linux
from tests.rows import for_each
from tests.values import ARCH, DEBIAN, FEDORA, knowledge, machine

UBUNTU = Distribution("ubuntu", ("debian",), "24.04", "Ubuntu 24.04 LTS")
ROCKY = Distribution("rocky", ("rhel", "centos", "fedora"), "9.4", "Rocky Linux 9.4")
TUMBLEWEED = Distribution("opensuse-tumbleweed", ("opensuse", "suse"), "20261120", "openSUSE Tumbleweed")
NIXOS = Distribution("nixos", (), "26.05", "NixOS 26.05")
EVERYWHERE = (UBUNTU, DEBIAN, FEDORA, ROCKY, ARCH, TUMBLEWEED, NIXOS)
NAMES = [example.name for example in examples(Session(world_under(Path("/")), knowledge(), ENGLISH))]


@pytest.fixture
def session(tmp_path: Path) -> Session:
    return Session(world_under(tmp_path), knowledge(), ENGLISH)


def _on(distribution: Distribution, one: Machine) -> Machine:
    return replace(one, host=replace(one.host, distribution=Known(distribution, "/etc/os-release")))


def _words(answer: Answer) -> list[str]:
    remedies = [words for remedy in answer.remedies for words in (remedy.text, remedy.check)]
    return [answer.title, answer.explanation, *remedies]


def _commands(answer: Answer) -> list[str]:
    return [line for remedy in answer.remedies for use in remedy.commands for line in use.lines]


def test_live_machine_is_read_and_judged(session: Session, tmp_path: Path) -> None:
    linux(tmp_path)
    found = inspect(session)
    assert [answer.id for answer in found.answers] == ["no-nvidia-gpu"]
    assert (found.recorded, found.title, found.chains) == (False, "", ())


def test_progress_names_each_section(session: Session) -> None:
    told: list[Text] = []
    inspect(session, on_progress=told.append)
    assert [ENGLISH(section) for section in told][:2] == ["host", "GPUs"]
    assert len(told) == 8


def test_recording_is_judged_like_the_machine(session: Session, tmp_path: Path) -> None:
    recorded = replace(machine(toolkits=("11.7.99", "12.4.131"), nvcc="11.7"), note="mine")
    put(tmp_path, "/machine.json", json.dumps(encode_machine(recorded, ENGLISH)))
    found = open_recording(session, "/machine.json")
    assert found.diagnosis == judge(recorded, knowledge())
    assert (found.recorded, found.title) == (True, "mine")
    assert repairable_version(found.answers) == "12.4"


def test_file_that_is_no_recording_says_so(session: Session, tmp_path: Path) -> None:
    put(tmp_path, "/machine.json", "{}")
    with pytest.raises(RecordingError):
        open_recording(session, "/machine.json")


def test_each_gpu_has_its_chain(session: Session) -> None:
    assert len(open_example(session, "05-gtx-1080-ti-and-rtx-5090").chains) == 2


def test_examples_stand_in_the_order_of_their_files(session: Session) -> None:
    names = [example.name for example in examples(session)]
    assert len(names) >= 8
    assert names == sorted(names)


def test_example_goes_by_its_note(session: Session) -> None:
    titles = {example.name: ENGLISH(example.title) for example in examples(session)}
    assert titles["08-healthy"]
    assert all(title != name for name, title in titles.items())


@pytest.mark.parametrize("content", ["{", "[]", '{"note": 3}', "{}"])
def test_example_without_a_note_goes_by_its_name(tmp_path: Path, content: str) -> None:
    put(tmp_path, "/machines/plain.json", content)
    world = replace(world_under(tmp_path), resources=Resources(tmp_path))
    (example,) = examples(Session(world, knowledge(), ENGLISH))
    assert (example.name, ENGLISH(example.title)) == ("plain", "plain")


@pytest.mark.parametrize("name", NAMES)
def test_example_opens_as_a_recording(session: Session, name: str) -> None:
    found = open_example(session, name)
    assert found.recorded
    assert found.title
    assert not any("description is missing" in answer.explanation for answer in found.answers)


def test_example_that_is_not_there_is_named(session: Session) -> None:
    with pytest.raises(RecordingError) as caught:
        open_example(session, "99-none")
    assert "99-none" in ENGLISH(caught.value.reason)


@pytest.mark.parametrize("content", ["{", "{}"])
def test_damaged_example_is_named(tmp_path: Path, content: str) -> None:
    put(tmp_path, "/machines/plain.json", content)
    world = replace(world_under(tmp_path), resources=Resources(tmp_path))
    with pytest.raises(RecordingError) as caught:
        open_example(Session(world, knowledge(), ENGLISH), "plain")
    assert "plain" in ENGLISH(caught.value.reason)


def test_healthy_machine_has_nothing_worse_than_a_note(session: Session) -> None:
    for name in (name for name in NAMES if "healthy" in name):
        assert [answer.id for answer in open_example(session, name).answers if answer.severity is not Severity.INFO] == []


def test_most_severe_answers_come_first(session: Session) -> None:
    order = ("ld-library-path-missing-directory", "ld-library-path-stubs", "path-order-wrong-nvcc", "torch-cpu-only")
    answers = answers_of(session, Machine(), Diagnosis(tuple(Finding(problem, (), ()) for problem in order)))
    assert [answer.id for answer in answers] == [
        "ld-library-path-stubs",
        "torch-cpu-only",
        "path-order-wrong-nvcc",
        "ld-library-path-missing-directory",
    ]


@for_each(("problem", "recipe"), PROBLEMS)
def test_every_finding_is_answered_in_whole_sentences(session: Session, problem: str, recipe: dict[str, Any]) -> None:
    one = machine(**recipe)
    for distribution in EVERYWHERE:
        for answer in answers_of(session, _on(distribution, one), judge(one, knowledge())):
            assert "description is missing" not in answer.explanation
            for words in _words(answer):
                plain = re.sub("`[^`]+`", "code", words)
                assert not re.search(r"  | [.,;:)]|[{}`]|\(\)|than [.,]|branch [.,]|CUDA \)", plain), words


@for_each(("problem", "recipe"), PROBLEMS)
def test_every_finding_has_a_remedy_everywhere(session: Session, problem: str, recipe: dict[str, Any]) -> None:
    one = machine(**recipe)
    for distribution in EVERYWHERE:
        answers = answers_of(session, _on(distribution, one), judge(one, knowledge()))
        assert all(answer.remedies for answer in answers), [answer.id for answer in answers if not answer.remedies]


@for_each(("problem", "recipe"), PROBLEMS)
def test_every_finding_has_a_remedy_in_a_container(session: Session, problem: str, recipe: dict[str, Any]) -> None:
    one = machine(**recipe)
    inside = replace(one, host=replace(one.host, container=Known("docker", "/.dockerenv")))
    answers = answers_of(session, inside, judge(one, knowledge()))
    assert all(answer.remedies for answer in answers), [answer.id for answer in answers if not answer.remedies]
    assert not any("sudo apt install nvidia" in line for answer in answers for line in _commands(answer))


@for_each(("problem", "recipe"), PROBLEMS)
def test_no_command_has_an_empty_parameter(session: Session, problem: str, recipe: dict[str, Any]) -> None:
    one = machine(**recipe)
    for distribution in EVERYWHERE:
        for answer in answers_of(session, _on(distribution, one), judge(one, knowledge())):
            for line in _commands(answer):
                assert "''" not in line
                assert not re.search(r"(?<!\S)-[a-z]+-(?!\S)|/repos//|--(?!\S)", line)


def test_debian_gets_a_driver_for_blackwell_from_nvidia(session: Session) -> None:
    one = _on(DEBIAN, machine(gpus=("10de:2b85",), driver="", bound="nouveau", toolkits=(), nvcc="", environments=()))
    (answer,) = answers_of(session, one, judge(one, knowledge()))
    assert "sudo apt install nvidia-open" in _commands(answer)
    assert any("/repos/debian12/x86_64/" in line for line in _commands(answer))


def test_update_without_restart_needs_a_restart_alone(session: Session) -> None:
    one = machine(libcuda="550.90.07", on_disk="550.90.07")
    (answer,) = answers_of(session, one, judge(one, knowledge()))
    assert [use.key for use in answer.remedies[0].commands] == ["reboot"]
    assert answer.remedies[0].needs_root


def test_distributions_of_one_family_share_commands() -> None:
    assert families_of(machine()) == (Family.UBUNTU, Family.ANY)


def test_unknown_distribution_has_no_family() -> None:
    assert families_of(Machine()) == (Family.ANY,)


def test_wsl_and_containers_come_before_the_distribution() -> None:
    host = Host(distribution=Known(UBUNTU, ""), wsl=Known(2, ""))
    assert families_of(Machine(host=host)) == (Family.WSL, Family.UBUNTU, Family.ANY)
    inside = replace(host, wsl=Known(0, ""), container=Known("docker", ""))
    assert families_of(Machine(host=inside)) == (Family.CONTAINER, Family.UBUNTU, Family.ANY)


@for_each(
    ("distribution", "wsl", "name"),
    [
        (UBUNTU, 0, "ubuntu2404"),
        (UBUNTU, 2, "wsl-ubuntu"),
        (replace(UBUNTU, version_id="24.10"), 0, ""),
        (replace(UBUNTU, version_id="25.04"), 0, ""),
        (Distribution("linuxmint", ("ubuntu", "debian"), "22.1", "Linux Mint 22.1"), 0, ""),
        (DEBIAN, 0, "debian12"),
        (FEDORA, 0, "fedora42"),
        (ROCKY, 0, "rhel9"),
        (Distribution("amzn", ("fedora",), "2023", "Amazon Linux 2023"), 0, "amzn2023"),
        (Distribution("amzn", ("centos",), "2", "Amazon Linux 2"), 0, ""),
        (ARCH, 0, ""),
        (TUMBLEWEED, 0, "suse16"),
        (Distribution("opensuse-leap", ("suse", "opensuse"), "15.6", "openSUSE Leap 15.6"), 0, "opensuse15"),
        (Distribution("opensuse-leap", ("suse", "opensuse"), "16.0", "openSUSE Leap 16.0"), 0, "suse16"),
        (Distribution("sles", ("suse",), "15.7", "SLES 15 SP7"), 0, "sles15"),
        (Distribution("opensuse-slowroll", ("opensuse", "suse"), "20260701", "Slowroll"), 0, ""),
        (NIXOS, 0, ""),
    ],
)
def test_nvidia_has_a_repository_for_some(distribution: Distribution, wsl: int, name: str) -> None:
    host = Host(distribution=Known(distribution, ""), wsl=Known(wsl, ""), architecture=Known("x86_64", ""))
    assert surroundings_of(Machine(host=host)) == {"repository": name, "repository_architecture": "x86_64"}


def test_arm_servers_have_a_repository_of_their_own() -> None:
    host = Host(distribution=Known(UBUNTU, ""), architecture=Known("aarch64", ""))
    assert surroundings_of(Machine(host=host))["repository_architecture"] == "sbsa"


def test_unknown_processor_has_no_repository() -> None:
    host = Host(distribution=Known(UBUNTU, ""), architecture=Unknown(text("not told")))
    assert surroundings_of(Machine(host=host)) == {"repository": "", "repository_architecture": ""}


def test_nothing_known_is_nothing_found(session: Session) -> None:
    assert answers_of(session, Machine(), judge(Machine(), knowledge())) == ()


def test_twenty_judgements_take_a_second(session: Session) -> None:
    recorded = machine(toolkits=("11.7.99", "12.4.131"), nvcc="11.7")
    fresh = replace(session, knowledge=Knowledge(Resources().read))
    began = time.thread_time()  # of this thread alone, whatever else the machine does
    for _ in range(20):
        answers_of(fresh, recorded, judge(recorded, fresh.knowledge))
    assert time.thread_time() - began < 5
