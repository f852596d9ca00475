"""What builders and loaders of torch extensions say: no toolkit, a toolkit of another CUDA, a binary for another torch or GPU."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gpuassist.diagnose.compiled_packages import package_of, undefined_in
from gpuassist.diagnose.named_in_words import torch_older_than_card
from gpuassist.diagnose.signature import Sign, Signature, SignatureInput, means, one_of, sign
from gpuassist.diagnose.tool_releases import OLDEST, capability, nvcc_release, torch_cuda, torch_version, without_gpu
from gpuassist.model.fact import Known
from gpuassist.model.lazy_regex import lazy_regex
from gpuassist.model.paste import Weight
from gpuassist.model.text import text
from gpuassist.model.version import Version


def _no_home(_: re.Match[str], setting: SignatureInput) -> Iterator[Sign]:
    """The toolkit to build with is one of torch's own CUDA; installed it may be already."""
    if without_gpu(setting):
        yield sign("no-nvidia-gpu")
        yield sign("cuda-home-unset", Weight.STATE)
        return
    cuda = torch_cuda(setting)
    known = bool(cuda) and setting.case.knowledge.toolkit(Version.parse(cuda)) is not None
    alternative = _installed(setting, cuda)
    yield sign("cuda-home-unset", torch_cuda=cuda, alternative=alternative, install=cuda if known and not alternative else "")


def _mismatch(match: re.Match[str], setting: SignatureInput) -> Iterator[Sign]:
    groups = match.groupdict()
    nvcc = groups.get("nvcc") or groups.get("nvcc2") or nvcc_release(setting)
    cuda = groups.get("torch") or groups.get("torch2") or torch_cuda(setting)
    alternative = _installed(setting, cuda)
    yield sign(
        "torch-cuda-vs-toolkit-mismatch",
        nvcc=nvcc,
        torch_cuda=cuda,
        torch=torch_version(setting),
        building="yes",
        alternative=alternative,
        install="" if alternative else cuda,
    )


def _warned(match: re.Match[str], _: SignatureInput) -> Iterator[Sign]:
    """Another minor version is only warned of; what follows it has another cause."""
    yield sign("torch-cuda-vs-toolkit-mismatch", Weight.ASIDE, nvcc=match["nvcc"], torch_cuda=match["torch"])


def _isolated(_: re.Match[str], setting: SignatureInput) -> Iterator[Sign]:
    """pip builds a package apart from the environment, where torch is, unless it is told not to."""
    if setting.says("requirements to build wheel", "get_requires_for_build", "build dependencies"):
        cause = text("pip builds the package apart from the environment in which torch is; --no-build-isolation lets it see torch")
        yield sign("not-a-gpu-problem", cause=cause)


def _old_nvcc(_: re.Match[str], setting: SignatureInput) -> Iterator[Sign]:
    """An nvcc that does not know what torch's builder asks of it is older than torch's own CUDA."""
    if setting.says("torch", "cpp_extension"):
        nvcc, cuda = nvcc_release(setting), torch_cuda(setting)
        yield sign("torch-cuda-vs-toolkit-mismatch", Weight.STATE, nvcc=nvcc, torch_cuda=cuda, building="yes", install=cuda)


def _installed(setting: SignatureInput, cuda: str) -> str:
    """The release of an installed toolkit that is torch's own, `12.4`."""
    releases = (str(one.version.value.release) for one in setting.case.toolkits if isinstance(one.version, Known))
    return cuda if cuda and cuda in releases else ""


def _undefined(match: re.Match[str], setting: SignatureInput) -> Iterator[Sign]:
    """A symbol of torch's C++ that an extension does not find: it was compiled for another torch."""
    return undefined_in(match["file"], setting)


def _no_image(match: re.Match[str], setting: SignatureInput) -> Iterator[Sign]:
    """The CUDA runtime's message: torch's own kernels, or those of an extension that the lines around it name."""
    # The line of the message, and the two before it: a traceback's last frame.
    before = setting.paste.words[max(0, match.start() - 600) : match.start()].splitlines()[-3:]
    frames = (one for one in before if not _INSTALLS.search(one))
    package = package_of("\n".join((*frames, setting.paste.words[match.start() : match.end() + 200].partition("\n")[0])))
    older = torch_older_than_card(setting)
    if older is not None:
        yield older
        yield sign("no-kernel-image", Weight.ASIDE)
    elif package:
        yield sign("no-kernel-image", package=package)
        yield sign("torch-lacks-sm", Weight.ASIDE)
    elif _is_too_old(setting):
        yield sign("gpu-too-old-for-torch", Weight.STATE, capability=str(capability(setting) or ""))
        yield sign("no-kernel-image", Weight.STATE)
    elif setting.says("torch", "pytorch"):
        yield sign("torch-lacks-sm", Weight.STATE)
        yield sign("no-kernel-image", Weight.STATE)
    else:
        yield sign("no-kernel-image", Weight.STATE)


def _is_too_old(setting: SignatureInput) -> bool:
    """Whether the GPU is below what any torch that is still made has code for."""
    known = capability(setting)
    return known is not None and known < OLDEST and setting.says("torch")


# A line that installs packages names many, and none of them as the one that fails.
_INSTALLS = lazy_regex(
    r"\b(?:conda|mamba|micromamba|pip3?|uv|poetry)\b[^\n]{0,60}\b(?:install|add|create)\b|^\s*[\w-]{2,40}==", re.IGNORECASE
)
_SYMBOL = one_of(r"_Z\w*?(?:3c10|2at|5torch|6caffe2|THP|8pybind11)\w*", r"THP\w+", r"aoti_torch_\w+")

SIGNATURES = (
    Signature(
        ("cuda_home", "cuda_path", "bare_metal_version", "cuda install root"),
        one_of(
            r"CUDA_HOME environment variable is not set",
            r"CUDA_HOME does not exist, unable to compile",
            r"(?:AssertionError|Error): (?:Please set |The )?[`'\"]?CUDA_HOME[`'\"]? (?:(?:environment )?(?:variable )?is )?"
            r"(?:not set|not defined|unset|undefined|None)",
            r"(?:Cannot|Could not|Unable to) (?:find|locate|detect) (?:the )?CUDA_HOME",
            r"CUDA_HOME (?:not found|could not be found|was not found|undefined)",
            r"NameError: name 'bare_metal_version' is not defined",
            r"CUDA_HOME\s?=\s?None\b",
            r"_join_cuda_home\b[^\0]{0,200}?(?:TypeError|AttributeError|OSError)",
            r"\[CUDA_HOME\b[^\0]{0,120}?unsupported operand type\(s\) for \+: 'NoneType' and 'str'",
        ),
        _no_home,
    ),
    Signature(
        ("nvcc was not found", "nvcc is not found", "missingcudaexception", "'nonetype' and 'str'"),
        one_of(
            r"\w{2,40} was requested, but nvcc was not found",
            r"nvcc was not found\.\s+Are you sure your environment has nvcc available",
            r"MissingCUDAException",
            r"CUDA_HOME \+ \"/bin/nvcc\"[^\0]{0,200}?'NoneType' and 'str'",
        ),
        _no_home,
    ),
    Signature(
        ("mismatches the version", "that was used to compile"),
        r"detected CUDA version\s+\((?P<nvcc>\d{1,2}\.\d{1,2})[\d.]*\)\s+mismatches\s+the\s+version\s+that\s+was\s+used\s+to"
        r"\s+compile\s*PyTorch\s+\((?P<torch>\d{1,2}\.\d)[\d.]*\)",
        _mismatch,
    ),
    Signature(
        ("detected cuda version (%s)",),
        r"The detected CUDA version \(%s\) mismatches[^\0]{0,200}?', '(?P<nvcc>\d{1,2}\.\d{1,2})[\d.]*', '(?P<torch>\d{1,2}\.\d)",
        _mismatch,
    ),
    Signature(
        ("does not match the version torch was compiled with", "does not match the version used to compile pytorch"),
        one_of(
            r"Installed CUDA version (?P<nvcc>\d{1,2}\.\d)[\d.]* does not match the version torch was compiled with"
            r" (?P<torch>\d{1,2}\.\d)",
            r"version of Cuda that does not match the version used to compile Pytorch binaries\."
            r"(?:\s+Pytorch binaries were compiled with Cuda (?P<torch2>\d{1,2}\.\d))?",
        ),
        _mismatch,
    ),
    Signature(
        ("minor version mismatch",),
        r"detected CUDA version \((?P<nvcc>\d{1,2}\.\d)[\d.]*\) has a minor version mismatch with the version that was used "
        r"to compile PyTorch \((?P<torch>\d{1,2}\.\d)",
        _warned,
    ),
    Signature(
        ("undefined symbol", "symbol not found in flat namespace"),
        rf"(?<![^\s:'\"(])(?P<file>[^\s:'\"(]{{1,300}}?\.so[.\d]*): undefined symbol: (?P<symbol>{_SYMBOL})",
        _undefined,
    ),
    Signature(("no cuda runtime is found",), r"No CUDA runtime is found, using CUDA_HOME", means("no-driver", Weight.STATE)),
    Signature(("no module named 'torch'", 'no module named "torch"'), r"No module named ['\"]torch['\"]", _isolated),
    Signature(
        ("_cuda'", "._c'", "._ext'", "amp_c'", "_cuda_"),
        r"No module named '(?P<package>[a-z]\w{1,40})(?:\.\w{1,40}){0,4}\.(?:\w{0,40}_cuda\w{0,10}|_C|_ext)'",
        means("extension-build-mismatch"),
    ),
    Signature(
        ("kill signal", "killed signal", "killed (program"),
        one_of(
            r"nvcc error\s*: '?(?:cicc|cudafe\+\+|ptxas)'? died due to signal 9",
            r"Killed signal terminated program \w+",
            r": Killed \(program \w+\)",
        ),
        means(
            "not-a-gpu-problem",
            cause=text("the compilers needed more memory than the computer has; MAX_JOBS lets fewer run at once"),
        ),
    ),
    Signature(
        ("thc/thc.h", "thcstate", "thcudacheck", "at_check", "aten/cuda/exceptions"),
        one_of(
            r"fatal error: THC/THC\w*\.h",
            r"['‘]?(?:THCState|THCudaCheck|AT_CHECK)['’]? (?:does not name a type|was not declared)",
            r"identifier \"(?:THCState|THCudaCheck|AT_CHECK)\" is undefined",
        ),
        means("extension-build-mismatch", Weight.STATE),
    ),
    Signature(
        ("is not defined for option 'std'", "generate-dependencies-with-compile"),
        r"Value 'c\+\+(?:14|17|20)' is not defined for option 'std'|Unknown option '-{1,2}generate-dependencies-with-compile'",
        _old_nvcc,
    ),
    Signature(
        ("were compiled with different cuda versions",),
        r"Detected that PyTorch and (?P<package>(?!torchvision|torchaudio)[\w-]{2,40}) were compiled with different CUDA versions",
        means("extension-build-mismatch"),
    ),
    Signature(("bin/nvcc'",), r"No such file or directory: '[^'\n]{0,200}:/[^'\n]{0,200}bin/nvcc'", _no_home),
    Signature(
        ("kernel is not available. make sure",),
        r"SM\d{2,3} kernel is not available\. Make sure you GPUs",
        means("no-kernel-image", package="sageattention"),
    ),
    Signature(
        ("no kernel image is available",),
        r"no kernel image is available for (?:execution on the device|the GPU)",
        _no_image,
        window=160,
    ),
)
