"""A container image by its name, in any spelling: what is inside, and which driver it needs on the host."""

from __future__ import annotations

import re

from msgspec import Struct
from msgspec.structs import replace

from gpuassist.knowledge.compatibility import driver_floor
from gpuassist.knowledge.records import ImageFamily, ImageRecord, SystemRecord, ToolkitRecord
from gpuassist.model.lazy_regex import lazy_regex
from gpuassist.model.text import Text, text
from gpuassist.model.version import ComputeCapability, Version

# What the names alone say, and where that is written down.
_RULES = {
    ImageFamily.NGC_PYTORCH: "the name; PyTorch container release notes, docs.nvidia.com/deeplearning/frameworks",
    ImageFamily.NGC_TENSORRT: "the name; TensorRT container release notes, docs.nvidia.com/deeplearning/tensorrt",
    ImageFamily.NGC_TENSORFLOW: "the name; TensorFlow container release notes, docs.nvidia.com/deeplearning/frameworks",
    ImageFamily.NGC_TRITON: "the name; Triton Inference Server release notes, docs.nvidia.com/deeplearning",
    ImageFamily.NGC_JAX: "the name; JAX container release notes, docs.nvidia.com/deeplearning/frameworks",
    ImageFamily.CUDA: "the name; description of the image, hub.docker.com/r/nvidia/cuda (base, runtime, devel)",
    ImageFamily.TORCH: "the name; Dockerfile and docker.Makefile of github.com/pytorch/pytorch",
}
_CHECKED = "2026-11-21"

# NVIDIA_REQUIRE_CUDA of NVIDIA's monthly images: the same in all of them. What they really need is told inside, not at the start.
_MONTHLY_REQUIRES = Version((9, 0))

_EXAMPLES = {
    ImageFamily.NGC_PYTORCH: "nvcr.io/nvidia/pytorch:23.10-py3",
    ImageFamily.NGC_TENSORRT: "nvcr.io/nvidia/tensorrt:24.05-py3",
    ImageFamily.NGC_TENSORFLOW: "nvcr.io/nvidia/tensorflow:25.02-tf2-py3",
    ImageFamily.NGC_TRITON: "nvcr.io/nvidia/tritonserver:25.06-py3",
    ImageFamily.NGC_JAX: "nvcr.io/nvidia/jax:25.04-py3",
    ImageFamily.CUDA: "nvidia/cuda:12.4.1-cudnn-devel-ubuntu22.04",
    ImageFamily.TORCH: "pytorch/pytorch:2.4.0-cuda12.4-cudnn9-runtime",
}

_SCHEME = lazy_regex(r"^(?:docker|oci|https?)://")
_REGISTRY = lazy_regex(r"^(?:nvcr\.io|(?:index\.|registry-1\.)?docker\.io|registry\.hub\.docker\.com)[/#]")  # enroot writes a `#`
_MONTH_TAG = lazy_regex(r"(\d\d\.(?:0[1-9]|1[0-2]))(?:-(tf[12]|(?:vllm|trtllm)-python))?(?:-py[23])?(-igpu|-min|-sdk)?", re.ASCII)
_VARIANTS = {"tf": ImageFamily.NGC_TENSORFLOW, "vl": ImageFamily.NGC_TRITON, "tr": ImageFamily.NGC_TRITON}

# NVIDIA builds a month's images upon one base: its notes and the images themselves tell the same CUDA, Python and Ubuntu for
# each (of PyTorch, TensorRT, TensorFlow, Triton, MXNet, DGL: 21.02 to 26.08). JAX has stood on it since 25.04; before, on
# nvidia/cuda (NVIDIA/JAX-Toolbox, Dockerfile.base on the branches 23.10 to 25.01).
_BASE_OF_JAX_FROM = Version((25, 4))
_TOGETHER = (ImageFamily.NGC_PYTORCH, ImageFamily.NGC_TRITON, ImageFamily.NGC_TENSORFLOW, ImageFamily.NGC_TENSORRT)
_BASE = "the common base of that month's images"
_CUDA_TAG = lazy_regex(
    r"(\d{1,2}\.\d{1,2}(?:\.\d{1,2})?)(?:-(cudnn)(\d{0,2}))?(-tensorrt)?-(base|runtime|devel)(?:-([a-z]+[\d.]*))?", re.ASCII
)
_TORCH_TAG = lazy_regex(r"(\d\.\d{1,2}(?:\.\d)?)-cuda(\d{1,2}(?:\.\d{1,2})?)-cudnn(\d{1,2})-(runtime|devel)", re.ASCII)


class ImageKnowledge(Struct, frozen=True):
    """What reading an image's name draws upon."""

    images: tuple[ImageRecord, ...]
    toolkits: tuple[ToolkitRecord, ...]
    systems: tuple[SystemRecord, ...]


class ImageReading(Struct, frozen=True):
    """What is inside an image. None is not known; of `torch`, `tensorrt`, `cudnn` (its major) "" is none inside; `version` is that
    of TensorFlow, Triton or JAX in an image of theirs. `by_base` where it is told by the other images of its month.

    `driver_min` runs it as it is: what its publisher asks for, else the driver made for its CUDA; `driver_floor` is the oldest
    of CUDA's major (minor-version compatibility). Below `requires_cuda`, the driver's own CUDA figure, the container does not
    even start (NVIDIA_REQUIRE_CUDA; NVIDIA_DISABLE_REQUIRE=1 lifts it); None where it asks for nothing. An `integrated` image
    is for Jetson, whose driver is part of its system (`jetpack`): no number of these applies there.
    """

    name: str
    family: ImageFamily
    cuda: Version | None = None
    torch: str | None = None
    version: str | None = None
    tensorrt: str | None = None
    python: Version | None = None
    cudnn: str | None = None
    nvcc_inside: bool | None = None
    cudnn_inside: bool | None = None
    os: str | None = None
    glibc: Version | None = None
    driver_min: Version | None = None
    driver_floor: Version | None = None
    compat_drivers: tuple[Version, ...] = ()
    requires_cuda: Version | None = None
    capability_min: ComputeCapability | None = None
    integrated: bool = False
    jetpack: Version | None = None
    newer_than_known: bool = False
    by_base: bool = False
    source: str = ""
    checked: str = _CHECKED


class NotAnImage(Struct, frozen=True):
    """Words that name no image that can be read; `expected` are names of the kinds that can."""

    name: str
    reason: Text
    expected: tuple[str, ...]


def read_image(name: str, known: ImageKnowledge) -> ImageReading | NotAnImage:
    """What is in an image: `nvcr.io/nvidia/pytorch:23.10-py3`, `cuda:12.4.1-base-ubi9`, with or without its registry."""
    # Repository and tag; of a whole command, or of a line of a Dockerfile, those of the first word that names an image known.
    named = [_split(word.strip("'\"`")) for word in name.lower().split()]
    repository, tag = next((one for one in named if _family(*one)), ("", ""))
    family = _family(repository, tag)
    if family is None:
        return NotAnImage(name, text("{image} is no image that gpuassist knows", image=name.strip()), tuple(_EXAMPLES.values()))
    if tag in {"", "latest"}:
        return _unfit(name, family, text("{image} names no release: its contents change", image=name.strip()))
    if family is ImageFamily.CUDA:
        return _cuda_image(name, tag, known)
    if family is ImageFamily.TORCH:
        found = _TORCH_TAG.fullmatch(tag)
        if found is None:
            return _malformed(name, ImageFamily.TORCH)
        cuda = Version.parse(found[2])
        native, floor = _drivers(cuda, known)
        return ImageReading(
            name=f"{ImageFamily.TORCH.value}:{tag}",
            family=ImageFamily.TORCH,
            cuda=cuda,
            torch=found[1],
            tensorrt="",
            cudnn=found[3],
            nvcc_inside=found[4] == "devel",
            cudnn_inside=True,
            driver_min=native,
            driver_floor=floor,
            requires_cuda=cuda.release if found[4] == "devel" else None,  # devel stands on nvidia/cuda, runtime on ubuntu
            newer_than_known=_is_newer(cuda, known),
            source=_RULES[ImageFamily.TORCH],
        )
    return _monthly(name, family, tag, known)


def _split(word: str) -> tuple[str, str]:
    repository, _, tag = _REGISTRY.sub("", _SCHEME.sub("", word).partition("@")[0]).partition(":")
    return repository.removeprefix("library/").strip("/"), tag


def _family(repository: str, tag: str) -> ImageFamily | None:
    if repository == "pytorch":  # both publishers' images are called so; their tags differ
        return ImageFamily.NGC_PYTORCH if _MONTH_TAG.match(tag) else ImageFamily.TORCH
    if repository in {"tensorflow", "nvidia/tensorflow"}:  # Docker's own of that name has tags of another kind
        return ImageFamily.NGC_TENSORFLOW if repository.startswith("nvidia") or _MONTH_TAG.match(tag) else None
    return {
        "nvidia/tritonserver": ImageFamily.NGC_TRITON,
        "tritonserver": ImageFamily.NGC_TRITON,
        "nvidia/jax": ImageFamily.NGC_JAX,
        "jax": ImageFamily.NGC_JAX,
        "nvidia/pytorch": ImageFamily.NGC_PYTORCH,
        "nvidia/tensorrt": ImageFamily.NGC_TENSORRT,
        "tensorrt": ImageFamily.NGC_TENSORRT,
        "nvidia/cuda": ImageFamily.CUDA,
        "cuda": ImageFamily.CUDA,
        "pytorch/pytorch": ImageFamily.TORCH,
    }.get(repository)


def _unfit(name: str, family: ImageFamily, reason: Text) -> NotAnImage:
    return NotAnImage(name, reason, (_EXAMPLES[family],))


def _malformed(name: str, family: ImageFamily) -> NotAnImage:
    reason = text("{image} is not how this image is named: {example}", image=name.strip(), example=_EXAMPLES[family])
    return _unfit(name, family, reason)


def _monthly(name: str, family: ImageFamily, tag: str, known: ImageKnowledge) -> ImageReading | NotAnImage:
    found = _MONTH_TAG.fullmatch(tag)
    if found is None or (found[2] and _VARIANTS[found[2][:2]] is not family):
        return _malformed(name, family)
    month, integrated = Version.parse(found[1]), found[3] == "-igpu"
    own = [one for one in known.images if one.family is family]
    with_variants = family is ImageFamily.NGC_TENSORFLOW
    variant = found[2] or ("tf2" if with_variants else "")
    record = next((one for one in own if (one.month, one.variant) == (month, variant)), None)
    # Triton's images with an engine stand upon that engine's month.
    base = _base_of(family, month, known) if with_variants or not variant else _Base()
    full = f"{family.value}:{tag}"
    with_torch = family is ImageFamily.NGC_PYTORCH or variant.endswith("python")
    torch = (record.torch if record else None) if with_torch else ""
    plain = ImageReading(
        full,
        family,
        torch=torch,
        nvcc_inside=_nvcc(family),
        cudnn_inside=True,
        requires_cuda=None if integrated else _MONTHLY_REQUIRES,
        integrated=integrated,
        newer_than_known=month > max((one.month for one in own), default=month) and base.cuda is None,
        source=_RULES[family],
    )
    if record is None and base.cuda is None:
        return plain
    # The patch number too where another image of the month tells it.
    told_cuda = [one for one in (record.cuda if record else None, base.cuda) if one is not None]
    same = (one for one in told_cuda if one.release == told_cuda[0].release)
    cuda = max(same, key=lambda one: len(one.parts), default=None)
    native, floor = _drivers(cuda, known) if cuda else (None, None)
    told = _merged(record, base)
    by_base = record is None or (record.cuda is None and base.cuda is not None)
    sources = [record.source] if record else []
    return replace(
        plain,
        cuda=cuda,
        version=record.version if record else None,
        tensorrt=_tensorrt(family, told),
        python=told.python,
        os=told.system,
        glibc=_glibc(told.system, known),
        driver_min=None if integrated else told.driver or native,
        driver_floor=None if integrated else floor,
        compat_drivers=() if integrated else told.compat_drivers,
        capability_min=None if integrated else told.capability_min,
        jetpack=record.jetpack if integrated and record else None,
        by_base=by_base,
        source="; ".join((*sources, f"{_BASE}: {base.source}") if by_base and base.cuda else sources),
        checked=min(one.checked for one in (record, base) if one is not None and one.checked),
    )


class _Base(Struct, frozen=True):
    """What the images of a month stand upon, as far as any of them tells."""

    cuda: Version | None = None
    tensorrt: Version | None = None
    python: Version | None = None
    system: str | None = None
    driver: Version | None = None
    compat_drivers: tuple[Version, ...] = ()
    capability_min: ComputeCapability | None = None
    source: str = ""
    checked: str = ""


def _base_of(family: ImageFamily, month: Version, known: ImageKnowledge) -> _Base:
    """Of the images of that month which share one; nothing for JAX before it did, nor for one that had ended."""
    of_month = [one for wanted in _TOGETHER for one in known.images if _is_of(one, wanted, month)]
    last = max((one.month for one in known.images if one.family is family), default=month)
    ended = family is ImageFamily.NGC_TENSORFLOW and month > last
    alone = family is ImageFamily.NGC_JAX and month < _BASE_OF_JAX_FROM
    telling = next((one for one in of_month if one.cuda), None)
    if ended or alone or telling is None:
        return _Base()
    return _Base(
        # 13.4.1 before 13.4, where one of them knows the patch.
        max((one.cuda for one in of_month if one.cuda), key=lambda one: len(one.parts)),
        next((one.tensorrt for one in of_month if one.tensorrt), None),
        next((one.python for one in of_month if one.python), None),
        next((one.system for one in of_month if one.system), None),
        next((one.driver for one in of_month if one.driver), None),
        next((one.compat_drivers for one in of_month if one.compat_drivers), ()),
        next((one.capability_min for one in of_month if one.capability_min), None),
        telling.source,
        telling.checked,
    )


def _is_of(image: ImageRecord, family: ImageFamily, month: Version) -> bool:
    return (image.family, image.month) == (family, month) and not image.variant.endswith("python")


def _merged(record: ImageRecord | None, base: _Base) -> _Base:
    """What the image's own row says, and else its base."""
    if record is None:
        return base
    return _Base(
        record.cuda or base.cuda,
        record.tensorrt or base.tensorrt,
        record.python or base.python,
        record.system or base.system,
        record.driver or base.driver,
        record.compat_drivers or (base.compat_drivers if record.driver is None else ()),
        record.capability_min or base.capability_min,
    )


def _tensorrt(family: ImageFamily, told: _Base) -> str | None:
    """JAX's image is built without it being told; the others hold that of their base."""
    return None if family is ImageFamily.NGC_JAX or told.tensorrt is None else str(told.tensorrt)


def _nvcc(family: ImageFamily) -> bool | None:
    """The PyTorch image is made to build extensions in; of the TensorRT image no source tells."""
    return True if family is ImageFamily.NGC_PYTORCH else None


def _cuda_image(name: str, tag: str, known: ImageKnowledge) -> ImageReading | NotAnImage:
    found = _CUDA_TAG.fullmatch(tag)
    if found is None:
        return _malformed(name, ImageFamily.CUDA)
    version, cudnn, number, tensorrt, flavour, system = found.groups()
    if cudnn and flavour == "base":
        return _unfit(name, ImageFamily.CUDA, text("cuDNN comes with runtime and devel, not with base"))
    cuda = Version.parse(version)
    native, floor = _drivers(cuda, known)
    return ImageReading(
        name=f"{ImageFamily.CUDA.value}:{tag}",
        family=ImageFamily.CUDA,
        cuda=cuda,
        torch="",
        tensorrt=None if tensorrt else "",
        cudnn=(number or None) if cudnn or tensorrt else "",
        nvcc_inside=flavour == "devel",
        cudnn_inside=bool(cudnn) or (None if tensorrt else False),
        os=system,
        glibc=_glibc(system, known),
        driver_min=native,
        driver_floor=floor,
        requires_cuda=cuda.release,
        newer_than_known=_is_newer(cuda, known),
        source=_RULES[ImageFamily.CUDA],
    )


def _drivers(cuda: Version, known: ImageKnowledge) -> tuple[Version | None, Version | None]:
    """The driver made for a CUDA release, and the oldest that its major runs on."""
    record = next((one for one in known.toolkits if one.release == cuda.release), None)
    return (record.native_driver, record.driver_floor) if record else (None, driver_floor(cuda))


def _is_newer(cuda: Version, known: ImageKnowledge) -> bool:
    return cuda.release > max((one.release for one in known.toolkits), default=cuda.release)


def _glibc(system: str | None, known: ImageKnowledge) -> Version | None:
    return next((one.glibc for one in known.systems if one.name == system), None)
