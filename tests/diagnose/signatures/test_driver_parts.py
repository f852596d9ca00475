"""What is said where a part of a running driver is kept from a program leads to what keeps it."""

from __future__ import annotations

import pytest

from gpuassist.diagnose.signatures.driver_setup import SIGNATURES
from tests.diagnose.signatures.reading import parameters, problem, problems
from tests.values import machine

WSL = "5.15.167.4-microsoft-standard-WSL2\n"
UNLICENSED = """\
    vGPU Software Licensed Product
        Product Name                      : NVIDIA RTX Virtual Workstation
        License Status                    : Unlicensed (Unrestricted)
"""
GONE = "/usr/lib/x86_64-linux-gnu/libcuda.so.535.171.04: no such file or directory"


@pytest.mark.parametrize(
    ("words", "listed"),
    [
        (f"failed to fulfil mount request: open {GONE}: unknown.", "535.171.04"),
        (
            "Error: unable to start container: crun: error stat'ing file /lib/x86_64-linux-gnu/libEGL_nvidia.so.535.161.07: No such"
            " file or directory: OCI runtime attempted to invoke a command that was not found",
            "535.161.07",
        ),
        ("crun: cannot stat `/usr/lib64/libnvidia-ml.so.550.54.14`: No such file or directory", "550.54.14"),
        (
            'runc create failed: error mounting "/usr/lib64/libGLX_nvidia.so.570.86.16" to rootfs at "/usr/lib64/libGLX_nvidia.so'
            '.570.86.16": stat /usr/lib64/libGLX_nvidia.so.570.86.16: no such file or directory',
            "570.86.16",
        ),
        ("Error: statfs /usr/lib64/libnvidia-glcore.so.565.77: no such file or directory", "565.77"),
    ],
)
def test_file_of_a_driver_that_is_gone_is_a_stale_list(words: str, listed: str) -> None:
    assert problem(SIGNATURES, words) == "container-cdi-stale"
    assert parameters(SIGNATURES, words) == {"listed": listed}


def test_file_of_the_running_driver_is_no_stale_list() -> None:
    words = f"failed to fulfil mount request: open {GONE}"
    assert problem(SIGNATURES, words, machine(driver="535.171.04")) == "container-toolkit-missing"
    assert parameters(SIGNATURES, words, machine())["driver"] == "550.54.14"


@pytest.mark.parametrize(
    ("words", "library"),
    [
        ("[h264_nvenc @ 0x55bd94c6bb40] Cannot load libnvidia-encode.so.1", "libnvidia-encode.so.1"),
        ("Cannot load libnvcuvid.so.1\n[h264_cuvid @ 0x3a46360] Failed loading nvcuvid.", "libnvcuvid.so.1"),
        ("OSError: libnvcuvid.so.1: cannot open shared object file: No such file or directory", ""),
        ("RuntimeError: LoadNvEncApi : NVENC library file is not found. Please ensure NV driver is installed", ""),
    ],
)
def test_missing_video_library_is_named(words: str, library: str) -> None:
    assert problem(SIGNATURES, words) == "video-library-missing"
    assert parameters(SIGNATURES, words) == ({"library": library} if library else {})


@pytest.mark.parametrize(
    "words",
    [
        "Proxmox 8, unprivileged LXC\n# nvidia-smi\nFailed to initialize NVML: Unknown Error",
        "root@incus:~# nvidia-smi\nFailed to initialize NVML: Insufficient Permissions",
        "systemd-nspawn -D /srv/box\nopenat(/dev/nvidiactl, O_RDWR) = -1 EPERM (Operation not permitted)",
        "in my lxc container: NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver.",
    ],
)
def test_system_container_needs_its_devices_allowed(words: str) -> None:
    assert problem(SIGNATURES, words) == "container-lxc-devices"


@pytest.mark.parametrize(
    "words",
    [
        UNLICENSED,
        "nvidia-gridd: Valid GRID license not found. GPU features and performance will be restricted.",
        "May 22 02:46:38 vm nvidia-gridd[812]: Failed to acquire license from cls.example.org (Error: ...)",
        "        License Status                    : Expired (Expiry: 2026-1-2 10:0:0 GMT)",
    ],
)
def test_virtual_gpu_without_licence_is_recognised(words: str) -> None:
    assert problem(SIGNATURES, words) == "vgpu-unlicensed"


def test_product_that_wants_the_licence_is_named() -> None:
    assert parameters(SIGNATURES, UNLICENSED) == {"product": "NVIDIA RTX Virtual Workstation"}


@pytest.mark.parametrize(
    ("words", "feature"),
    [
        ("modprobe: FATAL: Module nvidia not found in directory /lib/modules/5.15.167.4-microsoft-standard-WSL2", "module"),
        (WSL + "cat: /proc/driver/nvidia/version: No such file or directory", "module"),
        (WSL + "sudo: nvidia-smi: command not found", "root"),
        (WSL + "Changing power management limit is not supported for GPU: 00000000:01:00.0.", "setting"),
        (WSL + "Unable to set persistence mode for GPU 00000000:01:00.0: Not Supported", "setting"),
    ],
)
def test_what_wsl_never_has_is_no_fault(words: str, feature: str) -> None:
    assert problem(SIGNATURES, words) == "wsl-limits"
    assert parameters(SIGNATURES, words) == {"feature": feature}


OFFERED = "\tlibcuda.so.1 (libc6,x86-64) => {}/libcuda.so.1\n\tlibcuda.so.1 (libc6,x86-64) => {}/libcuda.so.1\n"


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        ("/usr/lib/wsl/lib", "/lib/x86_64-linux-gnu", "wsl-linux-driver-installed"),
        ("/usr/local/cuda-12.2/compat", "/lib/x86_64-linux-gnu", "cuda-compat-conflict"),
        ("/usr/lib/nvidia-375", "/usr/lib/x86_64-linux-gnu", "libcuda-twice"),
        ("/lib/x86_64-linux-gnu", "/usr/lib/x86_64-linux-gnu", ""),
    ],
)
def test_two_libcuda_of_the_loader_are_told_apart(first: str, second: str, expected: str) -> None:
    assert problem(SIGNATURES, f"$ ldconfig -p | grep libcuda\n{OFFERED.format(first, second)}") == expected


def test_link_that_update_alternatives_drops_is_named() -> None:
    words = (
        "update-alternatives: warning: alternative /usr/local/cuda-12.1 (part of link group cuda) doesn't exist; removing from list"
    )
    assert problem(SIGNATURES, words) == "cuda-link-dangling"
    assert parameters(SIGNATURES, words) == {"target": "/usr/local/cuda-12.1"}


@pytest.mark.parametrize(
    "words",
    [
        "\tlibcuda.so.1 (libc6,x86-64) => /lib/x86_64-linux-gnu/libcuda.so.1\n\tlibcuda.so.1 (libc6) => /lib/i386-linux-gnu/x",
        "Failed to initialize NVML: Unknown Error",
        "Failed to initialize NVML: Driver/library version mismatch, in LXC",
        "modprobe: FATAL: Module nvidia not found in directory /lib/modules/6.8.0-60-generic",
        "cannot stat '/usr/lib/libcuda.so': No such file or directory",
        "        License Status                    : Licensed (Expiry: 2027-1-2 10:0:0 GMT)",
        "sudo: nvidia-smi: command not found",
        "Changing power management limit is not supported in current scope for GPU: 00000000:01:00.0.",
        "libnvidia-encode.so.1 -> libnvidia-encode.so.550.54.14",
    ],
)
def test_near_miss_is_nothing(words: str) -> None:
    assert problems(SIGNATURES, words) == set()


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ('error mounting "/usr/lib/xorg/modules/drivers/nvidia_drv.so.535.1: no such file', "container-cdi-stale"),
        ("statfs /usr/lib/firmware/nvidia/535.54.03/gsp.bin: no such file or directory", "container-cdi-stale"),
        ("cannot stat /usr/lib/libcudadebugger.so.535.54.03: no such file", "container-cdi-stale"),
        ("statfs /usr/lib/vdpau/libvdpau_nvidia.so.535.54.03: no such file", "container-cdi-stale"),
        ("mount src=/usr/lib/libcuda.so.535.54.03, no such file or directory", "container-cdi-stale"),
        ("failed to open libnvidia-encode.so", "video-library-missing"),
        ("nvidia-gridd: License has expired", "vgpu-unlicensed"),
        ("nvidia-gridd[1]: Unlicensed (Unrestricted)", "vgpu-unlicensed"),
    ],
)
def test_other_wording_leads_to_its_problem(words: str, expected: str) -> None:
    assert problem(SIGNATURES, words) == expected


@pytest.mark.parametrize(
    "words",
    [
        "statfs /usr/lib/libssl.so.535.54.03: no such file",
        "cannot stat /usr/lib/libcuda.so.1: no such file",
        "nvidia-gridd: License acquired successfully",
        "libnvidia-encode.so was loaded",
    ],
)
def test_sound_words_beside_it_lead_nowhere(words: str) -> None:
    assert problems(SIGNATURES, words) == set()
