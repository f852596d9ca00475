"""What programs say in sentences of their own where others print CUDA's code: MATLAB, Blender, Julia, OpenCV, Ollama, hashcat."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gpuassist.diagnose.hints import in_wsl
from gpuassist.diagnose.signature import Sign, Signature, SignatureInput, general, means, one_of, sign
from gpuassist.diagnose.signatures.driver import no_driver
from gpuassist.knowledge.specifier import version_in
from gpuassist.model.paste import Weight
from gpuassist.model.text import text

_RELEASE = r"\d{1,2}(?:\.\d{1,2}){0,2}"
_CAPABILITY = r"\d{1,2}\.\d"


def _compares_driver(match: re.Match[str], _: SignatureInput) -> Iterator[Sign]:
    """The CUDA that the driver serves and the releases that the program takes: the driver is too old, or the program is."""
    found = match.groupdict()
    served, taken = version_in(found["served"] or ""), [version_in(one) for one in re.findall(_RELEASE, found["cuda"] or "")]
    known = [one for one in taken if one is not None]
    if served is not None and known and served > max(known) and served.major > max(known).major:
        cause = text("the program does not know this newer driver yet (CUDA {cuda}); update the program", cuda=str(served))
        yield sign("not-a-gpu-problem", Weight.STATE, cause=cause)
    else:
        cuda = str(min(known)) if known else ""
        yield sign("driver-too-old-for-cuda", Weight.CAUSE, served=str(served or ""), cuda=cuda)


def _function_missing(match: re.Match[str], setting: SignatureInput) -> Iterator[Sign]:
    """A function that the driver's library lacks came with a newer driver; under WSL the library is Windows'."""
    if in_wsl(setting):
        yield sign("wsl-driver-or-windows", Weight.STATE)
    driver = re.search(r"\.so\.(\d{3}\.\d[\d.]{0,8}\d)", match[0])
    yield sign("driver-too-old-for-cuda", Weight.CAUSE, driver=driver[1] if driver else "")


def _cpu_runners(_: re.Match[str], setting: SignatureInput) -> Iterator[Sign]:
    """Ollama lists the runners that it was built with: without one for CUDA it computes on the processor, whatever GPU it found."""
    if setting.says("library=cuda", "nvidia", "geforce"):
        yield sign("program-without-cuda", package="ollama")


@general
def _none_answers(match: re.Match[str], setting: SignatureInput) -> Iterator[Sign]:
    """What is wrong stands behind it, if anywhere, as MATLAB's `Caused by`."""
    yield from no_driver(match, setting)


def _stubs(match: re.Match[str], setting: SignatureInput) -> Iterator[Sign]:
    """The stubs of a toolkit are for the linker; a program that is started with them finds a driver that answers nothing."""
    if setting.says("error", "insufficient", "fail", "unable", "cannot", "false"):
        yield sign("ld-library-path-stubs", Weight.STATE, directory=match["directory"])


SIGNATURES = (
    Signature(("dynamic llm libraries",), r"Dynamic LLM libraries \[\s?(?:cpu\w{0,6}[ ,]{0,2}){1,6}\]", _cpu_runners),
    Signature(
        ("supports cuda version",),
        rf"CUDA driver on your system supports CUDA version (?P<served>{_RELEASE})\. The required CUDA version is"
        rf" (?P<cuda>{_RELEASE})",
        _compares_driver,
    ),
    Signature(
        ("only supports nvidia drivers for cuda",),
        rf"only supports NVIDIA drivers for CUDA (?P<cuda>[\d.]{{1,6}}(?:x|\d)?(?: or [\d.]{{1,6}}x?)?)(?: or (?:higher|newer))?"
        rf" \(yours is for CUDA (?P<served>{_RELEASE})\)",
        _compares_driver,
    ),
    Signature(
        ("is not compatible with any supported cuda toolkit",),
        rf"CUDA driver (?P<served>{_RELEASE}) is not compatible with any supported CUDA toolkit \((?P<cuda>[^)\n]{{3,160}})\)",
        _compares_driver,
    ),
    Signature(
        ("graphics driver is out of date",),
        r"Graphics driver is out of date\. Download",
        means("driver-too-old-for-cuda", Weight.STATE),
    ),
    Signature(
        ("driver or with this gpu device", "cuda driver not found", "cuda driver not functional", "cuda driver is not functional"),
        one_of(
            r"There is a problem with the (?:CUDA|graphics) driver or with this GPU device",
            r"CUDA driver (?:is |was )?not (?:found|functional)",
        ),
        _none_answers,
    ),
    # Blender's Cycles, whose words for a code stand before the call.
    Signature(
        (" in cu",),
        r"(?:Illegal (?:address|instruction)|Launch failed|Misaligned address|Hardware stack error|Invalid pc)"
        r" in cu[A-Z]\w{3,60}\(",
        means("illegal-memory-access"),
        120,
    ),
    Signature(
        ("out of memory in cu", "cuda context (out of memory)", "optix context (out of memory)"),
        r"Out of memory in cu[A-Z]\w{3,60}\(|(?:CUDA|OptiX) context \(Out of memory\)",
        means("oom-true", Weight.CAUSE, program="other"),
        120,
    ),
    Signature(
        ("libcuda.so", "libnvidia-ml.so", "nvcuda.dll", "symbol lookup for cu", "missing from cuda shared library"),
        one_of(
            r"(?:libcuda\.so[.\d]{0,16}|nvcuda\.dll)\b[^\n]{0,40}undefined symbol: cu[A-Z]\w{3,60}",
            r"libnvidia-ml\.so[.\d]{0,16}: undefined symbol: nvml\w{3,60}",
            r"symbol lookup for cu[A-Z]\w{3,60} failed[^\n]{0,120}",
            r"\bcu[A-Z]\w{3,60} is missing from CUDA shared library",
        ),
        _function_missing,
        240,
    ),
    Signature(
        (
            "sufficient compute capability",
            "minimum required cuda capability",
            "cuda gpu is too old",
            "kernel for this graphics card",
        ),
        one_of(
            rf"does not have sufficient compute capability[^\n]{{0,160}}?device has compute capability"
            rf" (?P<capability>{_CAPABILITY})",
            rf"with Cuda compute capability {_CAPABILITY}\. The minimum required Cuda capability is",
            rf"CUDA GPU is too old\b(?:[^\n]{{0,60}}Compute Capability detected: {_CAPABILITY})?",
            rf"No (?:CUDA )?binary kernel for this graphics card|CUDA binary kernel for this graphics card compute capability"
            rf" \({_CAPABILITY}\) not found",
        ),
        means("no-kernel-image"),
    ),
    Signature(
        ("neither precompiled kernels nor cuda compiler", "cuda_arch_ptx or cuda_arch_bin"),
        one_of(
            r"Neither precompiled kernels nor CUDA compiler wa[sd] found",
            r"was not built to work with the selected device\. Please check CUDA_ARCH_PTX or CUDA_ARCH_BIN",
        ),
        means("no-kernel-image"),
    ),
    Signature(
        ("cuda backend for dnn module requires",),
        r"CUDA backend for DNN module requires CC \d\.\d or higher",
        means(
            "not-a-gpu-problem",
            Weight.STATE,
            cause=text("CUDA_ARCH_BIN of this build names GPUs that OpenCV's networks are not made for; name your GPU's alone"),
        ),
    ),
    Signature(
        ("cuda sdk toolkit installation not detected",),
        r"CUDA SDK Toolkit installation NOT detected",
        means("missing-cuda-runtime-lib", Weight.STATE, library="libnvrtc.so"),
    ),
    Signature(
        ("unsupported ptx version",),
        r"\(Unsupported PTX version\)",
        means("ptx-newer-than-driver"),
    ),
    Signature(
        ("out of gpu memory", "out of gpu and shared host memory", "out of memory on device. to view"),
        r"System is out of GPU (?:and shared host )?memory|Out of memory on device\. To view more detail about available memory",
        means("oom-true", Weight.CAUSE, program="other"),
    ),
    Signature(
        ("/stubs",),
        r"LD_LIBRARY_PATH ?= ?['\"]?(?:[^\s:'\"]{1,120}:){0,12}(?P<directory>/[^\s:'\"]{1,120}/stubs)/?(?=[\s:'\"]|\Z)",
        _stubs,
    ),
)
