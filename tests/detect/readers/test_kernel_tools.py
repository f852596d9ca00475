"""lsmod, modinfo, dkms and mokutil: what is loaded, built and allowed; absent only where the answer is there to its end."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuassist.detect.readers import kernel_tools
from gpuassist.model.driver import Driver, KernelModule
from gpuassist.model.fact import NOT_ASKED, Fact, Known, Unknown, value_or
from gpuassist.model.machine import Machine
from gpuassist.model.paste import Paste

LSMOD = """\
Module                  Size  Used by
nvidia_uvm           1527808  0
nvidia_drm             77824  4
nvidia_modeset       1306624  3 nvidia_drm
nvidia              56717312  120 nvidia_uvm,nvidia_modeset
drm                   622592  5 drm_kms_helper,nvidia,nvidia_drm
"""
WITHOUT = "Module                  Size  Used by\n" + "".join(f"module{number}    16384  0\n" for number in range(12))


def driver(words: str) -> Driver:
    return kernel_tools.read(Paste(words)).driver


def secure(words: str) -> Fact[bool]:
    return kernel_tools.read(Paste(words)).host.secure_boot


def on_disk(words: str) -> list[str]:
    return [str(value_or(one.version, "")) for one in value_or(driver(words).on_disk, ())]


def test_listed_module_is_loaded() -> None:
    assert driver(LSMOD).loaded == Known((KernelModule(""),), "pasted lsmod, line 2")


def test_listed_nouveau_is_loaded() -> None:
    assert value_or(driver("nouveau   1949696  4\nvideo  16384  1 nouveau\n").nouveau_loaded, None) is True


def test_silent_search_means_not_loaded() -> None:
    assert driver("$ lsmod | grep nvidia\n$ nvidia-smi\n").loaded == Known((), "pasted lsmod, line 1")


def test_whole_listing_without_them_means_neither_is_loaded() -> None:
    found = driver(f"$ lsmod\n{WITHOUT}$ ls\n")

    assert value_or(found.loaded, (KernelModule(""),)) == ()
    assert value_or(found.nouveau_loaded, None) is False


def test_search_for_both_tells_the_one_that_is_missing() -> None:
    found = driver("$ lsmod | grep -E 'nvidia|nouveau'\nnouveau   1949696  4\n$ ls\n")

    assert value_or(found.loaded, (KernelModule(""),)) == ()
    assert value_or(found.nouveau_loaded, None) is True


@pytest.mark.parametrize(
    "words",
    [
        "$ lsmod | grep nvidia\n",
        "$ lsmod | grep nvidia\nlsmod: command not found\n$ ls\n",
        "$ lsmod | grep -v nvidia\n$ ls\n",
        "$ lsmod | grep i915\n$ ls\n",
        f"$ lsmod\n{WITHOUT}",
        "$ lsmod | head -3\nModule   Size  Used by\n$ ls\n",
        "i2c_nvidia_gpu    16384  0\nnvidiafb   57344  0\n",
        "the nvidia module is 56717312 bytes\n",
    ],
)
def test_nothing_is_said_of_modules_where_it_is_not_sure(words: str) -> None:
    assert isinstance(driver(words).loaded, Unknown)


@pytest.mark.parametrize(
    ("words", "versions"),
    [
        ("nvidia, 470.86, 5.13.0-21-generic, x86_64: installed\n", ["470.86"]),
        ("nvidia/535.54.03, 6.2.0-39-generic, x86_64: installed\n", ["535.54.03"]),
        ("nvidia-current/525.147.05, 6.1.0-18-amd64, x86_64: installed\n", ["525.147.05"]),
        ("nvidia-srv/550.54.15, 6.5.0-1, x86_64: installed (WARNING! Diff between built and installed module!)\n", ["550.54.15"]),
        ("nvidia/550.54.14: added\n", []),
        ("nvidia/550.54.14, 6.8.0-45-generic, x86_64: built\n", []),
        ("virtualbox/7.0.16, 6.8.0-45-generic, x86_64: installed\n", []),
        ("Error! nvidia/550.54.14 is broken\n", []),
    ],
)
def test_dkms_tells_what_is_installed(words: str, versions: list[str]) -> None:
    assert on_disk(words) == versions


def test_dkms_of_the_running_kernel_counts() -> None:
    words = (
        "$ uname -r\n6.8.0-45-generic\n$ dkms status\n"
        "nvidia/535.183.01, 6.8.0-40-generic, x86_64: installed\nnvidia/550.107.02, 6.8.0-45-generic, x86_64: installed\n"
    )

    assert on_disk(words) == ["550.107.02"]


def test_open_flavour_shows_in_its_name() -> None:
    (module,) = value_or(driver("nvidia-open/575.57.08, 6.14.0-24-generic, x86_64: installed\n").on_disk, ())

    assert value_or(module.open_flavour, None) is True


def test_module_that_modinfo_does_not_find_is_absent() -> None:
    assert driver("modinfo: ERROR: Module nvidia not found.\n").on_disk == Known((), "pasted modinfo, line 1")


@pytest.mark.parametrize(
    ("words", "enabled"),
    [
        ("$ mokutil --sb-state\nSecureBoot enabled\n", True),
        ("SecureBoot disabled\n", False),
        ("  Secure Boot: enabled (user)\n", True),
        ("  Secure Boot: disabled (setup)\n", False),
        ("[    0.000000] secureboot: Secure boot enabled\n", True),
        ("[    0.000000] secureboot: Secure boot disabled\n", False),
        ("[    0.0] Kernel is locked down from EFI Secure Boot mode; see man kernel_lockdown.7\n", True),
        ("EFI variables are not supported on this system\n", False),
        ("This system doesn't support Secure Boot\n", False),
    ],
)
def test_secure_boot_is_read(words: str, *, enabled: bool) -> None:
    assert value_or(secure(words), None) is enabled


@pytest.mark.parametrize("words", ["You may have to turn Secure Boot off.\n", "make sure that SecureBoot enabled is not shown\n"])
def test_advice_about_secure_boot_says_nothing(words: str) -> None:
    assert secure(words) is NOT_ASKED


@given(st.integers(0, 7))
def test_cut_listing_never_says_absent(end: int) -> None:
    cut = "$ lsmod\n" + "".join(LSMOD.splitlines(keepends=True)[:end])

    assert value_or(driver(cut).loaded, (KernelModule(""),)) == (KernelModule(""),)


@given(st.text(max_size=200))
def test_any_text_is_survived(words: str) -> None:
    assert isinstance(kernel_tools.read(Paste(f"lsmod nvidia Secure Boot {words}\n$ lsmod | grep {words}\n$ ")), Machine)
