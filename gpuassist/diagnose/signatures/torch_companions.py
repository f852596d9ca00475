"""What the packages around torch say that belong to one release of it: torchvision, torchaudio, xformers, bitsandbytes, Triton."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gpuassist.diagnose.compiled_packages import companion, torchvision_pair
from gpuassist.diagnose.signature import Sign, Signature, SignatureInput, means, one_of, passages, sign
from gpuassist.diagnose.tool_releases import package_version, torch_cuda, torch_version, without_gpu
from gpuassist.diagnose.torch_companions import is_of_release
from gpuassist.model.fact import Known, value_or
from gpuassist.model.paste import Weight
from gpuassist.model.version import Version


def _torchvision(_: re.Match[str], setting: SignatureInput) -> Iterator[Sign]:
    return torchvision_pair(setting)


def _listed_pair(match: re.Match[str], setting: SignatureInput) -> Iterator[Sign]:
    """Two releases that a list of packages names and that were not made for each other; a patch more or less does not matter."""
    release = setting.case.knowledge.torch_release(Version.parse(match["torch"]))
    asked = [one.version for one in release.companions if one.name == "torchvision"] if release is not None else []
    here = Version.parse(match["torchvision"])
    if asked and not any(is_of_release(words, here) for words in asked):
        yield from torchvision_pair(setting, Weight.STATE)


def _image_warning(_: re.Match[str], setting: SignatureInput) -> Iterator[Sign]:
    """Only reading images is lost by it, so it is no cause where another is told."""
    return torchvision_pair(setting, Weight.STATE)


def _pinned(match: re.Match[str], setting: SignatureInput) -> Iterator[Sign]:
    """pip has exchanged torch, and says which packages asked for another."""
    package, torch = match["package"].lower(), match["torch"]
    if package == "xformers":
        yield sign("xformers-torch-mismatch", built=match["asked"], torch=torch, wanted=companion(setting, "xformers", torch))
    elif package == "torchvision":
        wanted = companion(setting, "torchvision", torch)
        yield sign("torchvision-torch-mismatch", torchvision=match["own"], torch=torch.partition("+")[0], wanted=wanted)
    else:
        yield sign("torchvision-torch-mismatch", Weight.STATE)


def _xformers(match: re.Match[str], setting: SignatureInput) -> Iterator[Sign]:
    """Built for one torch, met by another: of another release, or by one that has no CUDA at all."""
    built, here = match["built"], match["torch"]
    if here.endswith("+cpu"):
        yield sign("torch-cpu-only", torch=here)
    elif without_gpu(setting):
        yield sign("no-nvidia-gpu")
    elif built == here and "+" not in here:
        yield sign("no-nvidia-gpu", Weight.STATE)
        yield sign("torch-cpu-only", Weight.STATE, torch=here)
    settled = here.endswith("+cpu") or without_gpu(setting) or built == here
    weight = Weight.STATE if settled else Weight.CAUSE
    yield sign("xformers-torch-mismatch", weight, built=built, torch=here, wanted=companion(setting, "xformers", here))


def _without_kernels(match: re.Match[str], setting: SignatureInput) -> Iterator[Sign]:
    """xformers lists its operators with the reason against each."""
    rest = setting.paste.words[match.start() : match.start() + 3000].lower()
    if "build with cuda support" in rest or "built with cuda support" in rest:
        yield sign("xformers-torch-mismatch", torch=torch_version(setting), wanted=companion(setting, "xformers"))
    elif "(too new)" in rest:
        yield sign("no-kernel-image", package="xformers")


def _bitsandbytes(match: re.Match[str], setting: SignatureInput) -> Iterator[Sign]:
    """Behind a torch without CUDA, or no GPU at all, it can only fail."""
    if "+cpu" in torch_version(setting):
        yield sign("torch-cpu-only", torch=torch_version(setting))
        yield sign("bitsandbytes-cuda-setup", Weight.ASIDE)
        return
    if without_gpu(setting):
        yield sign("no-nvidia-gpu")
        yield sign("bitsandbytes-cuda-setup", Weight.ASIDE)
        return
    digits = next((one[1] for one in passages(setting, ("cuda_version=",), r"CUDA_VERSION=(\d{3})\b")), "")
    told = torch_cuda(setting) or (f"{digits[:2]}.{digits[2]}" if digits else "")
    missing = next((one[1] for one in passages(setting, ("libbitsandbytes_cuda",), r"libbitsandbytes_cuda(\d{2,3})")), "")
    cuda = f"{missing[:-1]}.{missing[-1]}" if missing else ""
    yield sign("bitsandbytes-cuda-setup", torch_cuda=told, cuda=cuda, wanted=digits)


def _two_torches(match: re.Match[str], setting: SignatureInput) -> Iterator[Sign]:
    first, second = match["first"], match["second"]
    if first.partition("+")[0] != second.partition("+")[0]:
        yield sign("duplicate-torch-installs", Weight.STATE, first=first, second=second)


def _triton_libcuda(_: re.Match[str], setting: SignatureInput) -> Iterator[Sign]:
    """Triton asks ldconfig for the driver's library: without a driver there is none to find."""
    loaded = setting.case.machine.driver.loaded
    if isinstance(loaded, Known) and not value_or(loaded, ()):
        yield sign("no-driver")
    yield sign("triton-libcuda-not-found")


def _triton_ops(_: re.Match[str], setting: SignatureInput) -> Iterator[Sign]:
    versions = {name: package_version(setting, name) for name in ("bitsandbytes", "triton")}
    yield sign("bitsandbytes-triton-mismatch", bitsandbytes=versions["bitsandbytes"], triton=versions["triton"])


_VERSION = r"\d{1,2}\.\d{1,2}(?:\.\w{1,12})*(?:\+\w{1,16})?"

SIGNATURES = (
    Signature(
        ("torchvision",),
        one_of(
            r"(?:No such operator|operator) torchvision::\w+(?: does not exist)?",
            r"Could not run 'torchvision::\w+' with arguments from the 'CUDA' backend",
            r"PyTorch and torchvision were compiled with different CUDA (?:major )?versions",
            r"partially initialized module 'torchvision' has no attribute 'extension'",
            r"torchvision[\\/](?:_C|extension|_meta_registrations)[^\n]{0,200}undefined symbol",
        ),
        _torchvision,
    ),
    Signature(
        ("torchvision==", "torchvision "),
        r"(?m:^)(?:\[pip3?\] )?torch(?:==| {1,40})(?P<torch>\d\.\d{1,2}\.\d)(?:\+cu\d{2,3})?[ \t]*\n"
        r"(?:(?:\[pip3?\] )?torch(?!vision\b)[^\n]{0,80}\n){0,8}"
        r"(?:\[pip3?\] )?torchvision(?:==| {1,40})(?P<torchvision>\d\.\d{1,2}\.\d)(?:\+cu\d{2,3})?[ \t]*(?:\n|\Z)",
        _listed_pair,
        window=700,
    ),
    Signature(
        ("couldn't load custom c++ ops", "has no attribute 'register_fake'", "has no attribute 'impl_abstract'"),
        r"Couldn't load custom C\+\+ ops|module 'torch\.library' has no attribute '(?:register_fake|impl_abstract)'",
        _torchvision,
    ),
    Signature(
        ("failed to load image python extension",),
        r"Failed to load image Python extension:?[^\n]{0,200}",
        _image_warning,
        window=400,
    ),
    Signature(
        ("torchaudio",),
        one_of(
            r"PyTorch and torchaudio were compiled with different CUDA versions",
            r"libtorchaudio\.so: undefined symbol",
            r"torchaudio/[^\n]{0,120}: undefined symbol",
        ),
        means("torchvision-torch-mismatch", package="torchaudio"),
    ),
    Signature(
        ("which is incompatible", "but you have torch"),
        rf"\b(?P<package>torchvision|torchaudio|xformers|torchtext) (?P<own>{_VERSION}) requires torch\s?(?:==|~=|<=?)\s?"
        rf"(?P<asked>{_VERSION})[^\n]{{0,40}}, but you have torch (?P<torch>{_VERSION})",
        _pinned,
    ),
    Signature(
        ("xformers was built for",),
        rf"xFormers was built for:?\s+PyTorch (?P<built>{_VERSION})[^\n]{{0,40}}\(you have (?P<torch>{_VERSION})\)",
        _xformers,
    ),
    Signature(
        ("memory_efficient_attention",),
        r"No operator found for `?memory_efficient_attention_(?:forward|backward)`?",
        _without_kernels,
    ),
    Signature(
        ("flash_attn", "flash-attn", "flashattention"),
        one_of(
            r"flash_attn\w*[^\s:]{0,80}\.so: undefined symbol",
            r"cannot import name 'flash_attn\w*_cuda'",
            r"(?:No module named|import) ['\"]?flash_attn_(?:2_)?cuda['\"]?(?=\s|$)[^\0]{0,80}(?:undefined|Error)",
        ),
        means("flash-attn-abi-mismatch", Weight.STATE),
    ),
    Signature(
        ("cuda setup", "cuda_setup", "bitsandbytes", "cget_managed_ptr", "cget_col_row_stats", "cquantize_blockwise", "cadam32bit"),
        one_of(
            r"CUDA[ _]SETUP:? (?:failed despite|CUDA detection failed|WARNING|Setup Failed|Required library version not found)",
            r"CUDA Setup failed despite (?:GPU|CUDA) being available",
            r"bitsandbytes was compiled without GPU support",
            r"Loading binary [^\n]{0,300}libbitsandbytes_cpu\.so",
            r"(?:CUDA binary not found|Could not find the bitsandbytes CUDA binary) at",
            r"Configured (?:CUDA|GPU) (?:binary|library) not found",
            r"Could not load bitsandbytes native library",
            r"Defaulting to libbitsandbytes_cpu\.so",
            r"libbitsandbytes_\w+\.so: (?:undefined symbol: c\w+|cannot open shared object file)",
            r"'NoneType' object has no attribute 'c(?:get_managed_ptr|quantize_blockwise|adam32bit|get_col_row_stats|lion)\w*'",
            r"attempt to use bitsandbytes[^\n]{0,60}(?:not compiled with|without) CUDA",
            r"Using [`']?bitsandbytes[`']?[^\n]{0,80} requires[^\n]{0,120}GPU",
        ),
        _bitsandbytes,
        window=400,
    ),
    Signature(("triton.ops",), r"No module named ['\"]triton\.ops|cannot import name '\w+' from 'triton\.ops", _triton_ops),
    Signature(
        ("libcuda.so cannot found", "libcuda.so cannot be found", "create a symlink of libcuda.so", "libcuda_dirs"),
        one_of(
            r"libcuda\.so cannot (?:be )?found",
            r"create a symlink of libcuda\.so",
            r"in libcuda_dirs\b[^\0]{0,300}?(?:AssertionError|CalledProcessError|Error:)",
        ),
        _triton_libcuda,
    ),
    Signature(
        ("ignoring invalid distribution",),
        r"Ignoring invalid distribution [~-](?:orch|rch|ch)\b",
        means("duplicate-torch-installs", Weight.ASIDE),
    ),
    Signature(
        ("[conda] pytorch", "[conda] torch"),
        rf"\[pip3?\] torch==(?P<first>{_VERSION})[^\0]{{0,2000}}?\[conda\] (?:pytorch|torch)\s+(?P<second>{_VERSION})",
        _two_torches,
        window=3000,
    ),
)
