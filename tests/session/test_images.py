"""Each thing that can stand in the way of verifying in an image, in the words that the engines printed, and what comes of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from gpuassist.diagnose.catalogue_entry import entries_in, slots_of
from gpuassist.knowledge.families import Family
from gpuassist.knowledge.tables import Knowledge
from gpuassist.model.fact import Known
from gpuassist.model.gpu import Gpu
from gpuassist.model.machine import Machine
from gpuassist.model.verdict import Verdict, Verification
from gpuassist.session.images import Failure
from gpuassist.session.verify import image_request, verify
from gpuassist.system.resources import Resources
from gpuassist.verify.protocol import NO_INTERPRETER, NO_TORCH
from tests.rows import for_each
from tests.scripted_engines import Engines
from tests.verify.lines import BEGIN, DONE, END, IMPORTED, PASS, REFUSAL, START

UUID = "GPU-8d9f0a2b-0000-4000-8000-000000000001"
CARD = Gpu(
    Known("0000:01:00.0", "test"), name=Known("NVIDIA GeForce RTX 4090", "test"), uuid=Known(UUID, "test"), index=Known(0, "test")
)
WITHOUT, WITH = Machine("", gpus=Known((), "test")), Machine("", gpus=Known((CARD,), "test"))
GPU_RUN = (IMPORTED, START, BEGIN, PASS, DONE, END)

DOCKER = "docker: Error response from daemon: "
RUNC = "failed to create task for container: failed to create shim task: OCI runtime create failed: runc create failed: "
HELP = "\n\nRun 'docker run --help' for more information"
SAID = (
    ("docker", "docker: Cannot connect to the Docker daemon at unix:///var/run/docker.sock. Is the docker daemon running?" + HELP),
    (
        "docker",
        "docker: failed to connect to the docker API at unix:///var/run/docker.sock; check if the path is correct and if the"
        " daemon is running: dial unix /var/run/docker.sock: connect: no such file or directory",
    ),
    (
        "docker",
        'docker: permission denied while trying to connect to the Docker daemon socket at unix:///var/run/docker.sock: Head "http://'
        "%2Fvar%2Frun%2Fdocker.sock/_ping\": dial unix /var/run/docker.sock: connect: permission denied.\nSee 'docker run --help'.",
    ),
    ("docker", "permission denied while trying to connect to the docker API at unix:///var/run/docker.sock"),
    ("docker", f"{DOCKER}No such image: a:latest{HELP}"),
    ("podman", "Error: a:latest: image not known"),
    ("docker", f"docker: invalid reference format: repository name (library/A) must be lowercase{HELP}"),
    ("podman", "Error: invalid reference format"),
    ("docker", "unknown flag: --pull\nSee 'docker run --help'."),
    ("docker", f'{DOCKER}{RUNC}unable to start container process: exec: "sh": executable file not found in $PATH: unknown{HELP}'),
    (
        "podman",
        "Error: crun: executable file `sh` not found in $PATH: No such file or directory: OCI runtime attempted to invoke a command"
        " that was not found",
    ),
    (
        "apptainer",
        'WARNING: passwd file doesn\'t exist in container, not updating\nFATAL:   "sh": executable file not found in $PATH',
    ),
    ("docker", "WARNING: The requested image's platform (linux/arm64) does not match\nexec /usr/bin/sh: exec format error"),
    ("podman", "Error: crun: setrlimit `RLIMIT_NOFILE`: Operation not permitted: OCI permission denied"),
    (
        "podman",
        "Error: runc: runc create failed: unable to start container process: error during container init: error setting rlimits for"
        " ready process: error setting rlimit type 6: operation not permitted: OCI permission denied",
    ),
    ("podman", "Error: OCI runtime error: crun: cgroups in hybrid mode not supported, drop all controllers from cgroupv2"),
    (
        "podman",
        "Error: creating cgroup directory `/sys/fs/cgroup/user.slice/libpod-1.scope`: Permission denied: OCI permission denied",
    ),
    ("podman", 'Error: cannot set up namespace using "/usr/bin/newuidmap": exit status 1: newuidmap: write to uid_map failed'),
    ("apptainer", "INFO:    A system administrator may help\nERROR  : Failed to create user namespace: user namespace disabled"),
    (
        "docker",
        f"{DOCKER}AppArmor enabled on system but the docker-default profile could not be loaded: running `/sbin/apparmor_parser"
        " apparmor_parser -Kr /var/lib/docker/tmp/docker-default1` failed",
    ),
    (
        "podman",
        "error while loading shared libraries: libc.so.6: cannot apply additional memory protection after relocation: Permission "
        "denied",
    ),
    ("docker", f"{DOCKER}mkdir /var/lib/docker/overlay2/1: no space left on device."),
    ("apptainer", "FATAL:   While checking container encryption: could not open image /a.sif: image format not recognized"),
    ("docker", f"{DOCKER}something that nobody has seen."),
)
MEANS = (
    *(Failure.NO_DAEMON,) * 2,
    *(Failure.NOT_PERMITTED,) * 2,
    *(Failure.NO_IMAGE,) * 2,
    *(Failure.WRONG_NAME,) * 2,
    Failure.TOO_OLD,
    *(Failure.NO_SHELL,) * 3,
    Failure.OTHER_PROCESSOR,
    *(Failure.LIMITS,) * 2,
    *(Failure.CGROUPS,) * 2,
    *(Failure.NAMESPACES,) * 2,
    Failure.APPARMOR,
    Failure.SELINUX,
    Failure.NO_ROOM,
    Failure.NOT_IMAGE,
    Failure.NOT_STARTED,
)


@pytest.fixture
def engines(tmp_path: Path) -> Engines:
    return Engines(tmp_path)


def verified(engines: Engines, place: str, machine: Machine = WITHOUT, **request: Any) -> Verification:
    wish = replace(image_request(place), machine=machine, **request)
    return verify(engines.session(), wish, on_event=lambda _: None, cancelled=lambda: False)


def found(result: Verification) -> tuple[Verdict, str]:
    (one,) = result.explained
    return result.verdict, one.answer.id


@for_each("number", range(len(SAID)))
def test_what_an_engine_says_is_known(number: int, tmp_path: Path) -> None:
    engine, words = SAID[number]
    engines = Engines(tmp_path / str(number))
    (tmp_path / "a").touch()
    engines.says(engine, words)
    result = verified(engines, f"{engine}:{tmp_path}/a" if engine == "apptainer" else f"{engine}:a")
    assert found(result) == (Verdict.SKIPPED, MEANS[number].value)
    assert result.explained[0].answer.remedies


PASSED = {
    "no toolkit": (
        "docker",
        f'{DOCKER}could not select device driver "" with capabilities: [[gpu]]{HELP}',
        "container-toolkit-missing",
    ),
    "no list of devices": (
        "podman",
        "Error: setting up CDI devices: unresolvable CDI devices nvidia.com/gpu=all",
        "container-toolkit-missing",
    ),
    "the toolkit breaks": (
        "docker",
        f"{DOCKER}{RUNC}unable to start container process: error during container init: error running prestart hook #0: exit status"
        " 1, stdout: , stderr: Auto-detected mode as 'legacy'\nnvidia-container-cli: initialization error: load library failed:"
        " libnvidia-ml.so.1: cannot open shared object file: no such file or directory: unknown",
        "no-driver",
    ),
}


@for_each("name", PASSED)
def test_gpus_that_cannot_be_passed_are_a_problem(name: str, tmp_path: Path) -> None:
    engines = Engines(tmp_path / name)
    engine, words, problem = PASSED[name]
    engines.says(engine, words)
    assert found(verified(engines, f"{engine}:nvcr.io/nvidia/pytorch:25.01-py3", WITH)) == (Verdict.ERROR, problem)


def test_an_images_name_is_no_word_about_gpus(engines: Engines) -> None:
    engines.says("docker", f"{DOCKER}No such image: nvcr.io/nvidia/pytorch:25.01-py3{HELP}")
    result = verified(engines, "docker:nvcr.io/nvidia/pytorch:25.01-py3", WITH)
    assert found(result) == (Verdict.SKIPPED, "image-missing")
    assert "docker pull nvcr.io/nvidia/pytorch:25.01-py3" in result.explained[0].answer.remedies[0].commands[0].lines


def test_a_docker_that_knows_cdi_alone_is_served(engines: Engines) -> None:
    engines.says("docker", f'{DOCKER}could not select device driver "" with capabilities: [[gpu]]', when="*--gpus*")
    engines.says("docker", status=0, report=GPU_RUN)
    result = verified(engines, "docker:a", WITH)
    assert (result.verdict, result.accelerator_verified, result.image) == (Verdict.PASS, True, "docker:a")
    assert ["--gpus all" in line for line in engines.asked] == [True, False]


def test_a_gpu_of_this_machine_is_passed_by_its_uuid(engines: Engines) -> None:
    engines.says("docker", status=0, report=GPU_RUN)
    result = verified(engines, "docker:a", WITH, devices=("0",))
    assert f'--gpus "device={UUID}"' in engines.asked[0]
    assert result.devices[0].index == Known(0, "test")


def test_the_cpu_alone_needs_no_gpus(engines: Engines) -> None:
    engines.says("docker", status=0, report=(REFUSAL,))
    verified(engines, "docker:a", WITH, devices=("cpu",))
    assert "--gpus" not in engines.asked[0]


NO_DRIVER = "RuntimeError: Found no NVIDIA driver on your system."


def test_a_container_without_the_gpus_of_the_machine(engines: Engines) -> None:
    blind = {**START, "accelerators": 0, "no_accelerator": NO_DRIVER, "devices": [{**START["devices"][0], "device": "cpu"}]}
    on_cpu = [{**line, "device": "cpu"} for line in (BEGIN, PASS, DONE)]
    engines.says("podman", status=0, report=(True,), when="*inspect*")
    engines.says("podman", status=0, report=(IMPORTED, blind, *on_cpu, END))
    result = verified(engines, "container:mine", WITH)
    assert found(result) == (Verdict.ERROR, "container-no-gpu-flag")
    assert result.answer_to(NO_DRIVER) is not None


def test_a_container_that_has_ended(engines: Engines) -> None:
    engines.says("podman", status=0, report=(False,), when="*inspect*")
    assert found(verified(engines, "container:mine")) == (Verdict.SKIPPED, "container-not-running")


@for_each("place", ("docker:a", "podman:a", "apptainer:/a.sif", "container:a"))
def test_an_engine_that_is_not_there(place: str, tmp_path: Path) -> None:
    engines = Engines(tmp_path / place.replace("/", "-"))
    assert found(verified(engines, place)) == (Verdict.SKIPPED, "engine-missing")


def test_a_file_that_is_not_there(engines: Engines) -> None:
    engines.says("apptainer")
    assert found(verified(engines, "apptainer:/nowhere/a.sif")) == (Verdict.SKIPPED, "image-file-missing")
    assert engines.asked == []


CONTAINERS = {
    "nobody has it": (
        "Error response from daemon: No such container: a",
        "Error: inspecting object: no such container a",
        Failure.NO_CONTAINER,
    ),
    "nobody may look": ("permission denied while trying to connect to the docker API at unix:///x", "", Failure.NOT_PERMITTED),
    "docker does not run": (
        "Cannot connect to the Docker daemon at unix:///x. Is the docker daemon running?",
        "no such container a",
        Failure.NO_CONTAINER,
    ),
}


@for_each("name", CONTAINERS)
def test_a_container_that_is_not_found(name: str, tmp_path: Path) -> None:
    engines = Engines(tmp_path / name)
    docker, podman, failure = CONTAINERS[name]
    engines.says("docker", docker, status=1)
    if podman:
        engines.says("podman", podman)
    assert found(verified(engines, "container:a")) == (Verdict.SKIPPED, failure.value)


REFUSED = {
    "no python": (NO_INTERPRETER, "image-without-python"),
    "no torch": (f"{NO_TORCH} (/usr/bin/python3)", "image-without-torch"),
}


@for_each("name", REFUSED)
def test_an_image_that_lacks_something(name: str, tmp_path: Path) -> None:
    engines = Engines(tmp_path / name)
    error, problem = REFUSED[name]
    engines.says("docker", status=1, report=({**REFUSAL, "python": "", "error": error},))
    assert found(verified(engines, "docker:a")) == (Verdict.SKIPPED, problem)


# The file of what is said.

ENTRIES = entries_in(Resources().read("containers.toml"))
COMMANDS = Knowledge(Resources().read).commands


def test_each_failure_is_described_and_nothing_else() -> None:
    assert set(ENTRIES) == {failure.value for failure in Failure}


@for_each("name", ENTRIES)
def test_what_is_said_can_be_said(name: str) -> None:
    entry = ENTRIES[name]
    assert not slots_of(entry.titles[-1].message)
    assert {slot for message in entry.messages() for slot in slots_of(message)} <= {"engine", "image", "words"}
    for use in (use for remedy in entry.remedies for use in remedy.commands):
        records = [COMMANDS.record(use.key, family) for family in Family]
        assert any(record is not None and set(record.parameters) <= dict(use.parameters).keys() for record in records)
    assert all(remedy.check for remedy in entry.remedies)
