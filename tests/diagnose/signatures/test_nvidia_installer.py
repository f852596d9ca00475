"""Every message of NVIDIA's installers is known as they print it: wrapped at 80 columns, indented below its first word."""

from __future__ import annotations

from textwrap import wrap

from gpuassist.diagnose.signatures.nvidia_installer import MESSAGES, SIGNATURES
from gpuassist.model.paste import Weight
from tests.diagnose.signatures.reading import parameters, problem, problems, read
from tests.rows import for_each

_CAUSES = {
    "a module is loaded": "module-already-loaded",
    "a desktop runs": "module-already-loaded",
    "nouveau": "nouveau-active",
    "no kernel headers": "kernel-headers-missing",
    "does not build": "dkms-build-failed",
    "other compiler": "dkms-build-failed",
    "no compiler": "dkms-build-failed",
    "not registered": "dkms-build-failed",
    "does not load": "driver-not-loaded",
    "not signed": "secure-boot-unsigned-module",
    "cannot sign": "secure-boot-unsigned-module",
    "packages hold a driver": "apt-nvidia-package-conflict",
    "packages may hold one": "apt-nvidia-package-conflict",
    "modules of another release": "driver-library-mismatch",
    "was altered": "driver-installed-twice",
    "no driver": "no-driver",
    "legacy": "legacy-driver-branch-needed",
    "flavour": "open-module-required",
    "both flavours": "open-module-required",
    "some cannot be open": "open-module-unsupported-gpu",
    "stopped": "module-already-loaded",
    "old compiler": "nvcc-host-gcc-too-new",
}
_ELSEWHERE = {"other processor", "no root", "no room", "no room or damaged", "damaged", "read only", "no gcc", "harmless"}


def _printed(words: str, before: str) -> str:
    """As the installer's window and its log show it, in the middle of other sentences."""
    whole = f"{before} {words.replace('…', 'nvidia-drm')} (nvidia).  Please see the README for further information."
    return "\n".join(wrap(whole, 80, initial_indent="  ERROR: ", subsequent_indent="         ", break_on_hyphens=False))


@for_each(("message", "before"), [(one, before) for one in MESSAGES for before in ("", "While installing the driver:")])
def test_every_message_leads_to_its_cause_however_it_is_wrapped(message: object, before: str) -> None:
    words, says = message.words, message.says  # type: ignore[attr-defined]
    expected = _CAUSES.get(says, "not-a-gpu-problem" if says in _ELSEWHERE else "")
    assert expected
    assert problem(SIGNATURES, _printed(words, before)) == expected


def test_no_message_stands_twice() -> None:
    assert len({one.words for one in MESSAGES}) == len(MESSAGES)


@for_each(
    ("words", "expected"),
    [
        (
            "ERROR: Unable to load the kernel module 'nvidia.ko'.  This happens most frequently when this kernel module was built\n"
            "       against the wrong or improperly configured kernel sources, with a version of gcc that differs from the one\n"
            "       used to build the target kernel, or if another driver, such as nouveau, is present",
            {"driver-not-loaded", "dkms-build-failed"},
        ),
        (
            "-> Kernel module compilation complete.\nERROR: Unable to load the 'nvidia-drm' kernel module.",
            {"driver-not-loaded"},
        ),
        (
            "-> Kernel module load error: Required key not available\nERROR: Unable to load the kernel module 'nvidia.ko'.",
            {"driver-not-loaded"},
        ),
        ("-> This system requires use of the NVIDIA open kernel modules; these will be selected by default.", set()),
        ("Installation of the NVIDIA Accelerated Graphics Driver for Linux-x86_64 (version: 550.54.14) is now complete.", set()),
        ("Kernel messages:\n[   12.3] nvidia: module verification failed: signature and/or required key missing", set()),
    ],
)
def test_module_that_is_built_is_not_one_that_does_not_build(words: str, expected: set[str]) -> None:
    assert problems(SIGNATURES, words) == expected


def test_module_that_the_kernel_refuses_for_its_key_is_only_an_aside() -> None:
    words = "Kernel module load error: Key was rejected by service\nUnable to load the kernel module 'nvidia.ko'."
    assert {clue.weight for clue in read(SIGNATURES, words)} == {Weight.ASIDE}


def test_module_in_the_way_is_named() -> None:
    words = "ERROR: An NVIDIA kernel module\n       'nvidia-uvm' appears to already be\n       loaded in your kernel."
    assert parameters(SIGNATURES, words) == {"module": "nvidia-uvm"}


@for_each(
    ("kind", "expected"),
    [("open", "open-module-unsupported-gpu"), ("proprietary", "open-module-required")],
)
def test_flavour_that_the_cards_cannot_have_is_told(kind: str, expected: str) -> None:
    words = f"WARNING: The '{kind}' kernel modules are incompatible with the GPU(s) detected on this system."
    assert problem(SIGNATURES, words) == expected


@for_each(
    "words",
    [
        "an X server is running on the other screen",
        "sudo sh cuda_12.4.0_550.54.14_linux.run --toolkit --silent",
        "Please read the following LICENSE and type accept",
        "The kernel source path is set in the Makefile",
        "Failed to create the directory listing",
    ],
)
def test_near_miss_is_nothing(words: str) -> None:
    assert problems(SIGNATURES, words) == set()
