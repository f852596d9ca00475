"""What goes wrong where Windows provides the driver: its libcuda is not there, another is in the way, or Windows is too old."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gpuassist.diagnose.hints import in_wsl
from gpuassist.diagnose.signature import Sign, Signature, SignatureInput, means, sign
from gpuassist.model.paste import Weight

_FAILS = (
    "no cuda-capable device",
    "cuda_error_no_device",
    "is_available()",
    "is cuda available: false",
    "found no nvidia driver",
    "communicate with the nvidia driver",
    "no cuda gpus",
    "failed to initialize nvml",
    "command not found",
)


def _first_version(_: re.Match[str], setting: SignatureInput) -> Iterator[Sign]:
    """The kernel of WSL 1 is Microsoft's emulation, which has no GPU; it matters where something misses one."""
    if setting.says(*_FAILS):
        yield sign("wsl-driver-or-windows")


def _linux_driver(_: re.Match[str], setting: SignatureInput) -> Iterator[Sign]:
    if in_wsl(setting):
        yield sign("wsl-linux-driver-installed")


def _named_symbol(_: re.Match[str], setting: SignatureInput) -> Iterator[Sign]:
    """Error 500 under Docker Desktop and WSL: a driver of Windows that does not fit; elsewhere no code for the GPU."""
    if in_wsl(setting) or setting.says("docker desktop", "windows"):
        yield sign("wsl-driver-or-windows")
    elif setting.says(".cu", "bitsandbytes", "sm_", "jetson", "capability"):
        yield sign("no-kernel-image", Weight.STATE, package="bitsandbytes" if setting.says("bitsandbytes") else "")


def _dxg(_: re.Match[str], setting: SignatureInput) -> Iterator[Sign]:
    yield sign("wsl-driver-or-windows", Weight.STATE if setting.says(*_FAILS) else Weight.ASIDE)


def _compute_mode(_: re.Match[str], setting: SignatureInput) -> Iterator[Sign]:
    """Windows shares a card with WSL through its display driver (WDDM); one in TCC mode is none for it."""
    if in_wsl(setting):
        yield sign("wsl-driver-or-windows", Weight.CAUSE, tcc="yes")


SIGNATURES = (
    Signature(
        (" tcc ",),
        r"\|[ \t]{1,6}\d{1,2}[ \t]{1,4}[A-Z][^|\n]{2,50}[ \t]TCC[ \t]{0,4}\||Driver Model\n?[ \t]{0,40}Current {3,40}: TCC",
        _compute_mode,
        200,
    ),
    Signature(("-microsoft",), r"(?:Linux version |Linux \S{1,60} )?4\.4\.0-\d{5}-Microsoft\b", _first_version),
    Signature(
        ("nvidia-driver-", "libnvidia-compute", "nvidia-dkms", "nvidia-utils-", "libcuda.so.5", "libcuda.so.4"),
        r"(?:(?:apt|apt-get) (?:-y )?install [^\n]{0,80}nvidia-(?:driver|dkms|utils)-?\d{0,3}\b"
        r"|(?m:^)(?:ii|hi) {1,3}(?:nvidia-driver-|libnvidia-compute-|nvidia-dkms-|nvidia-utils-)\d{3}\S{0,20}"
        r"|/usr/lib/x86_64-linux-gnu/libcuda\.so\.[45]\d\d\.[\d.]{2,8})",
        _linux_driver,
    ),
    Signature(
        ("no version information available", "file exists, no version"),
        r"libcuda\.so(?:\.1)?: (?:file exists, )?no version information(?: available)?",
        _linux_driver,
    ),
    Signature(
        ("stubs/libcuda", "stub library", "cuda_error_stub_library", "cudaerrorstublibrary"),
        r"(?:/stubs/libcuda\.so\S{0,4}|CUDA driver is a stub library|CUDA_ERROR_STUB_LIBRARY|cudaErrorStubLibrary)",
        lambda match, setting: _stub(match, setting),
    ),
    Signature(
        ("wsl/lib/libcuda.so",), r"/usr/lib/wsl/lib/libcuda\.so\.1 is not a symbolic link", means("wsl-stub-lib", Weight.STATE)
    ),
    Signature(
        ("named symbol not found", "returned 500"), r"(?:named symbol not found|cudaGetDeviceCount returned 500)", _named_symbol
    ),
    Signature(
        ("dxgkio", "dxgk:", "/dev/dxg"),
        r"(?:cannot access '?/dev/dxg'?|/dev/dxg: No such file|/dev/dxg[^\n]{0,20} does not exist)",
        means("wsl-driver-or-windows"),
    ),
    Signature(("no adapters were found",), r"WSL environment detected but no adapters were found", means("wsl-driver-or-windows")),
    Signature(("dxgkio_query_adapter_info",), r"dxgkio_query_adapter_info: Ioctl failed", _dxg),
    Signature(
        ("wsl version", "wsl --set-version", "wsl1", "wsl 1"),
        r"(?:WSL ?1 (?:does not|doesn't|cannot|has no) [^\n]{0,40}GPU|running (?:in|under|on) WSL ?1\b)",
        means("wsl-driver-or-windows"),
    ),
)


def _stub(match: re.Match[str], setting: SignatureInput) -> Iterator[Sign]:
    """Linking against the stub is right; a program that runs with it is what fails."""
    if "/stubs/" not in match[0] or setting.says("stub library", "error 34", "returned 34"):
        yield sign("wsl-stub-lib" if in_wsl(setting) else "ld-library-path-stubs", Weight.CAUSE)
    elif in_wsl(setting) and setting.says(*_FAILS):
        yield sign("wsl-stub-lib", Weight.STATE)
