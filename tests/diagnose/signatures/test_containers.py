"""What container tools say leads to the right problem."""

from __future__ import annotations

import pytest

from gpuassist.diagnose.signatures.containers import SIGNATURES
from tests.diagnose.signatures.reading import parameters, problem, problems
from tests.rows import for_each
from tests.values import Recipe, machine

UNSATISFIED = (
    "nvidia-container-cli: requirement error: unsatisfied condition: cuda>=12.8, please update your driver to a newer version, or"
    " use an earlier cuda container: unknown"
)
LIBRARY = "nvidia-container-cli: initialization error: load library failed: libnvidia-ml.so.1: cannot open shared object file"


@for_each(
    ("words", "expected"),
    [
        ('Error response from daemon: could not select device driver "" with capabilities: [[gpu]].', "container-toolkit-missing"),
        ('could not select device driver "nvidia" with capabilities: [[gpu]]', "container-toolkit-missing"),
        ('could not select device driver "nvidia" with capabilities: [[gpu utility compute]]', "container-toolkit-missing"),
        ("docker: Error response from daemon: Unknown runtime specified nvidia.", "container-toolkit-missing"),
        ("unknown or invalid runtime name: nvidia", "container-toolkit-missing"),
        ('exec: "nvidia-container-runtime-hook": executable file not found in $PATH', "container-toolkit-missing"),
        ("exec: nvidia-container-cli: executable file not found in $PATH", "container-toolkit-missing"),
        ("E: Unable to locate package nvidia-container-toolkit", "container-toolkit-missing"),
        ("E: Unable to locate package nvidia-docker2", "container-toolkit-missing"),
        ("Error: setting up CDI devices: unresolvable CDI devices nvidia.com/gpu=all", "container-toolkit-missing"),
        ("If this is a GPU node, did you configure the NVIDIA Container Toolkit?", "container-toolkit-missing"),
        ("unknown flag: --gpus", "container-toolkit-missing"),
        (
            "docker: dpkg: unable to make backup link of './usr/bin/nvidia-smi' before installing: Invalid cross-device link",
            "container-driver-files-mounted",
        ),
        ("nvidia-container-cli: device error: unknown device id: 1: unknown", "cuda-visible-devices-bad"),
        ("nvidia-container-cli: device error: GPU-1a2b: unknown device: unknown", "cuda-visible-devices-bad"),
        ("nvidia-container-cli: ldcache error: open failed: /sbin/ldconfig.real: no such file", "container-toolkit-missing"),
        ("$ docker run -it image python\n>>> torch.cuda.is_available()\nFalse", "container-no-gpu-flag"),
        (
            "invoking the NVIDIA Container Runtime Hook directly (e.g. specifying the docker --gpus flag) is not supported.",
            "container-toolkit-missing",
        ),
        ("couldn't find binary nvidia-container-cli in PATH: exec: not found", "container-toolkit-missing"),
        ('time=x level=error msg="failed to generate CDI spec: no NVIDIA device nodes found"', "driver-not-loaded"),
        (UNSATISFIED, "container-driver-too-old"),
        ("unsatisfied condition: driver >= 384", "container-driver-too-old"),
        ("unsatisfied condition: brand = tesla", "container-driver-too-old"),
        ("Error: unsupported CUDA version: driver 7.0 < image 7.5", "container-driver-too-old"),
        (
            "WARNING: Detected NVIDIA GeForce RTX 5090 GPU, which may not yet be supported in this version of the container",
            "torch-lacks-sm",
        ),
        ("WARNING: Failed to detect NVIDIA driver version.", "container-no-gpu-flag"),
        ('failed to stat CDI host device "/dev/nvidia-uvm": no such file or directory', "uvm-device-missing"),
        ("crun: cannot stat `/dev/nvidia0`: No such file or directory: OCI runtime attempted", "driver-not-loaded"),
        (
            "ERROR: This container was built for NVIDIA Driver Release 530.30 or later, but\n       version 470.82.01 was detected"
            " and compatibility mode is UNAVAILABLE.",
            "container-driver-too-old",
        ),
        ("WARNING: The NVIDIA Driver was not detected.  GPU functionality will not be available.", "container-no-gpu-flag"),
        ("Use the NVIDIA Container Toolkit to start this container with GPU support", "container-no-gpu-flag"),
        (LIBRARY, "no-driver"),
        (f"Docker Desktop with WSL 2: {LIBRARY}", "wsl-driver-or-windows"),
        ("nvidia-container-cli: initialization error: nvml error: driver not loaded", "driver-not-loaded"),
        ("nvidia-container-cli: initialization error: cuda error: unknown error", "cuda-init-failed-driver-state"),
        ("nvidia-container-cli: initialization error: driver rpc error: timed out", "cuda-init-failed-driver-state"),
        (
            "nvidia-container-cli: mount error: file creation failed: /var/lib/docker/overlay2/0a1b/merged/usr/lib64/"
            "libnvidia-ml.so.1: file exists: unknown",
            "container-driver-files-mounted",
        ),
        ("nvidia-container-cli: container error: cgroup subsystem devices not found: unknown", "container-toolkit-missing"),
        ("bpf_prog_query(BPF_CGROUP_DEVICE) failed: operation not permitted: unknown", "device-permissions"),
        ('adding custom device "/dev/nvidia-uvm": no such file or directory', "uvm-device-missing"),
        ("Error: stat /dev/nvidia0: no such file or directory", "driver-not-loaded"),
        (
            "services.app.deploy.resources.reservations value Additional properties are not allowed ('devices' was unexpected)",
            "container-no-gpu-flag",
        ),
        (
            "docker: Error response from daemon: failed to discover GPU vendor from CDI: no known GPU vendor found",
            "container-toolkit-missing",
        ),
    ],
)
def test_message_leads_to_its_cause(words: str, expected: str) -> None:
    assert problem(SIGNATURES, words) == expected


@pytest.mark.parametrize(
    "words",
    [
        'could not select device driver "amd" with capabilities: [[gpu]]',
        "unknown runtime specified runsc",
        "unknown flag: --gpu-memory",
        "mount error: file exists",
        "$ docker run --gpus all image python\n>>> torch.cuda.is_available()\nFalse",
        "$ docker run hello-world",
        "umount: /mnt/nvidia: Device or resource busy",
        "Additional properties are not allowed ('volumes' was unexpected)",
        "E: Unable to locate package docker-compose-plugin",
        "the container was built for linux/amd64",
    ],
)
def test_near_miss_is_nothing(words: str) -> None:
    assert problems(SIGNATURES, words) == set()


def test_refused_image_names_what_it_asks_and_the_driver() -> None:
    told = parameters(SIGNATURES, UNSATISFIED, machine(Recipe(driver="551.78", cuda="12.4")))
    assert told == {"needed": "12.8", "driver": "551.78"}


def test_driver_of_another_major_is_told() -> None:
    told = parameters(SIGNATURES, UNSATISFIED, machine(Recipe(driver="470.82.01", cuda="11.4")))
    assert told["other_major"] == "yes"


def test_image_of_the_command_is_named() -> None:
    words = f"$ docker run --rm --gpus all nvidia/cuda:12.8.0-base-ubuntu22.04 nvidia-smi\n{UNSATISFIED}"
    assert parameters(SIGNATURES, words)["image"] == "nvidia/cuda:12.8.0-base-ubuntu22.04"


@pytest.mark.parametrize("image", ["$(rm -rf ~):12.0", "a;b:12.0.0", "`id`:12.0.0"])
def test_what_is_no_image_name_is_not_taken_for_one(image: str) -> None:
    told = parameters(SIGNATURES, f"docker run --gpus all {image} sh\n{UNSATISFIED}")
    assert not set("$();`") & set(told.get("image", ""))


@for_each(
    ("words", "expected"),
    [
        ('Error: runtime "nvidia" not found', "container-toolkit-missing"),
        ('failed to get sandbox runtime: no runtime for "nvidia" is configured', "container-toolkit-missing"),
        ('level=error msg="no runtime for \\"nvidia\\" is configured"', "container-toolkit-missing"),
        ("bash: nvidia-container-cli: command not found", "container-toolkit-missing"),
        ("No match for argument: nvidia-container-toolkit", "container-toolkit-missing"),
        ("No match for argument: nvidia-docker2", "container-toolkit-missing"),
        ("sudo: nvidia-docker: command not found", "container-toolkit-missing"),
        ('E1 "Incompatible platform detected" platform="unknown"', "container-toolkit-missing"),
        ('E1 "Incompatible strategy detected" strategy="auto"', "container-toolkit-missing"),
        ("CDI device injection failed: unresolvable CDI devices nvidia.com/gpu=0", "container-toolkit-missing"),
        ("failed to inject CDI devices: nvidia.com/gpu=all: not found", "container-toolkit-missing"),
        ("error looking up volume plugin nvidia-docker: plugin not found", "container-toolkit-missing"),
        ("unknown option: --gpus", "container-toolkit-missing"),
        ("open failed: /sys/fs/cgroup/devices/user.slice/devices.allow: permission denied", "device-permissions"),
        ("failed to get device cgroup mount path: no cgroup filesystem mounted", "device-permissions"),
        ("nvidia-container-cli: initialization error: nvml error: driver is not loaded", "driver-not-loaded"),
        ("nvidia-container-cli: initialization error: nvml error: gpu is lost", "xid-79-gpu-fell-off-bus"),
        ("nvidia-container-cli: initialization error: driver error: timed out", "cuda-init-failed-driver-state"),
        ("nvidia-container-cli: detection error: open failed: /dev/nvidia0", "cuda-init-failed-driver-state"),
        ("error stat'ing file /dev/nvidia-uvm: no such file or directory", "uvm-device-missing"),
        ("mknod: /dev/nvidia-uvm: Operation not permitted", "uvm-device-missing"),
        ("cannot stat `/dev/nvidia0`: No such file or directory", "driver-not-loaded"),
        ("Unsupported config option for services.app: 'runtime'", "container-no-gpu-flag"),
        ("services.app Additional properties are not allowed ('gpus' was unexpected)", "container-no-gpu-flag"),
        ("Detected NVIDIA H100 PCIe GPU, which is not yet supported in this version of the container", "torch-lacks-sm"),
        ("Detected NVIDIA Tesla K80 GPU, which is not supported by this container", "torch-lacks-sm"),
    ],
)
def test_message_is_known_in_its_other_wordings(words: str, expected: str) -> None:
    assert problem(SIGNATURES, words) == expected


@pytest.mark.parametrize("command", ["podman run -it pytorch python", "docker exec -it box python", "podman container run x"])
def test_container_that_was_not_given_the_gpu(command: str) -> None:
    words = f"$ {command}\n>>> torch.cuda.is_available()\nFalse"
    assert problem(SIGNATURES, words) == "container-no-gpu-flag"
    assert problems(SIGNATURES, words.replace("False", "True")) == set()


@pytest.mark.parametrize(
    "words",
    [
        'runtime "runc" not found',
        'no runtime for "kata" is configured',
        "nvidia-container-cli: version 1.16.1",
        "CDI device injection failed: vendor.com/nic=0",
        "unknown flag: --gpus-per-node",
        "Detected NVIDIA H100 PCIe GPU, which is supported by this container",
        "nvidia-container-cli: initialization ok",
        "crw-rw-rw- 1 root root 195, 0 /dev/nvidia0",
        "Unsupported config option for services.app: 'ports'",
    ],
)
def test_neighbour_of_a_wording_is_nothing(words: str) -> None:
    assert problems(SIGNATURES, words) == set()
