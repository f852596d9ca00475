"""Programs that draw or film: the driver that does not run, its libraries that are not there, one that is too old."""

from __future__ import annotations

from gpuassist.diagnose.signatures.displays import SIGNATURES
from tests.diagnose.signatures.reading import parameters, problem, problems
from tests.rows import for_each

ENCODER = (
    "[h264_nvenc @ 0x55d] Driver does not support the required nvenc API version. Required: 12.1 Found: 11.1\n"
    "[h264_nvenc @ 0x55d] The minimum required Nvidia driver for nvenc is 530.41.03 or newer\n"
)


@for_each(
    ("words", "expected"),
    [
        ("(EE) NVIDIA: Failed to initialize the NVIDIA kernel module. Please see the", "driver-not-loaded"),
        ("(EE) NVIDIA(0): Failed to load the NVIDIA kernel module!", "driver-not-loaded"),
        ("(EE) NVIDIA(GPU-0): Failed to initialize the NVIDIA graphics device!", "rm-init-adapter-failed"),
        ("(EE) NVIDIA(GPU-0): Failed to initialize the NVIDIA GPU at PCI:1:0:0.  Please check", "rm-init-adapter-failed"),
        ('(EE) Failed to load module "nvidia" (module does not exist, 0)', "no-driver"),
        ("NVIDIA: could not open the device file /dev/nvidiactl (Permission denied).", "device-permissions"),
        ("NVIDIA: could not open the device file /dev/nvidiactl (No such file or directory).", "driver-not-loaded"),
        ("NVIDIA: could not open the device file /dev/nvidia0 (Input/output error).", "rm-init-adapter-failed"),
        ('(II) LoadModule: "nvidia"\n(EE) NVIDIA(0): x\nFatal server error:\n(EE) no screens found(EE)', "driver-not-loaded"),
        (ENCODER, "driver-too-old-for-cuda"),
        ("RTX 3060: vkCreateInstance failed with VK_ERROR_INCOMPATIBLE_DRIVER", "graphics-library-missing"),
        (
            "error while loading shared libraries: libnvidia-glcore.so.550.54.14: cannot open shared object file",
            "graphics-library-missing",
        ),
        ("[ERROR]Cannot access secondary GPU - error: Could not load GPU driver", "driver-not-loaded"),
        ('[ERROR]Cannot access secondary GPU - error: [XORG] (EE) Failed to load module "mouse"', "hybrid-graphics-prime"),
        ("[ERROR]The Bumblebee daemon has not been started yet or the socket path was incorrect.", "hybrid-graphics-prime"),
        ("[ERROR]You've no permission to communicate with the Bumblebee daemon. Try adding yourself", "device-permissions"),
        ("[ERROR]No discrete video card found, quitting", "no-nvidia-gpu"),
        (
            "$ __NV_PRIME_RENDER_OFFLOAD=1 __GLX_VENDOR_LIBRARY_NAME=nvidia glxinfo\nX Error of failed request:  BadValue"
            " (integer parameter out of range for operation)\n  Major opcode of failed request:  152 (GLX)",
            "hybrid-graphics-prime",
        ),
    ],
)
def test_message_leads_to_its_problem(words: str, expected: str) -> None:
    assert problem(SIGNATURES, words) == expected


@for_each(
    "words",
    [
        "Fatal server error:\n(EE) no screens found(EE)",
        "amdgpu: VK_ERROR_INCOMPATIBLE_DRIVER",
        "X Error of failed request:  BadMatch (invalid parameter attributes)\n  Major opcode of failed request:  154 (GLX)",
        "(II) NVIDIA GLX Module  550.54.14\n(--) NVIDIA(GPU-0): Found DRM driver nvidia-drm",
        "[libx264 @ 0x1] using cpu capabilities",
    ],
)
def test_other_cards_and_plain_lines_are_nothing(words: str) -> None:
    assert problems(SIGNATURES, words) == set()


def test_driver_that_the_encoder_wants_is_named() -> None:
    assert parameters(SIGNATURES, ENCODER) == {"video": "yes", "needed": "530.41.03"}
