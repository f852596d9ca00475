"""What an environment's description, and an import of torch, show where it finds no GPU, or its files are cut off or another's."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gpuassist.diagnose.named_in_words import for_jetson
from gpuassist.diagnose.signature import Sign, Signature, SignatureInput, general, means, one_of, passages, sign
from gpuassist.diagnose.tool_releases import torch_cuda, torch_version, without_gpu
from gpuassist.formats.bare_answers import bare_answers
from gpuassist.model.fact import Known, Unknown
from gpuassist.model.paste import Weight
from gpuassist.model.version import Version


@general
def _unavailable(_: re.Match[str], setting: SignatureInput) -> Iterator[Sign]:
    """No driver was found, one that is too old, or one that fits and does not work; or torch is one without CUDA."""
    if "+cpu" in torch_version(setting):
        return
    if without_gpu(setting):
        yield sign("no-nvidia-gpu")
    elif setting.case.jetson and not torch_cuda(setting):
        # PyPI's builds for ARM know nothing of a Jetson's own GPU.
        yield sign("torch-cpu-only", Weight.STATE, torch=torch_version(setting), **for_jetson(setting))
    elif torch_cuda(setting):
        cuda = Version.parse(torch_cuda(setting))
        driver, torch = setting.case.driver, torch_version(setting)
        if isinstance(driver, Known) and setting.case.serves(cuda):
            yield sign("cuda-init-failed-driver-state", Weight.ASIDE, driver=str(driver.value))
        elif isinstance(driver, Known):
            floor = setting.case.floor(cuda)
            yield sign("driver-too-old-for-cuda", driver=str(driver.value), cuda=str(cuda), torch=torch, floor=floor)
        elif _older_works(setting, cuda):
            yield sign("driver-too-old-for-cuda", Weight.STATE, cuda=str(cuda), torch=torch)
        else:
            yield sign("no-driver", Weight.STATE)
            yield sign("driver-too-old-for-cuda", Weight.ASIDE)
    else:
        yield sign("torch-cpu-only", Weight.STATE)
        if isinstance(setting.case.driver, Unknown):
            yield sign("no-driver", Weight.STATE)


def _answered(match: re.Match[str], setting: SignatureInput) -> Iterator[Sign]:
    """The bare answer to whether CUDA is available, in a text of nothing but such answers."""
    found = bare_answers(setting.paste.words)
    if found is None or found.available is not False:
        return
    if "+cpu" in found.release:
        yield sign("torch-cpu-only", torch=found.release)
    else:
        yield from _unavailable(match, setting)


def _older_works(setting: SignatureInput, cuda: Version) -> bool:
    """Whether the text says that a torch for an older CUDA works on the same machine."""
    pattern = r"cu(?:da)?(\d{1,2}\.\d|\d{2,3})[^\n]{0,120}\bworks\b"
    told = [match[1] for match in passages(setting, ("works",), pattern)]
    return any(Version.parse(one if "." in one else f"{one[:-1]}.{one[-1]}").release < cuda.release for one in told)


def _built_without(match: re.Match[str], setting: SignatureInput) -> Iterator[Sign]:
    """A build for no accelerator at all; one for AMD's says so in the next line."""
    if "+cu" in torch_version(setting):
        return
    if without_gpu(setting):
        yield sign("no-nvidia-gpu")
    else:
        yield sign("torch-cpu-only", torch=match["torch"])


# What every torch has had since 1.0: where it is missing, what was imported is no torch, or only a part of one.
_ALWAYS = (
    r"(?:cuda|nn|[tT]ensor|device|dtype|rand|randn|zeros|ones|arange|float32|float16|float|int64|long|bool|no_grad|load|save|optim|utils"
    r"|autograd|backends|version|__version__|from_numpy|manual_seed|FloatTensor|LongTensor|_C|jit|distributed|UntypedStorage"
    r"|set_default_dtype|set_num_threads)"
)
_OWN_FILE = r"File \"(?P<path>(?![^\"\n]*(?:site|dist)-packages)[^\"\n]{0,200}?(?<![\w.-])torch(?:\.py|[\\/]__init__\.py))\", line"
_INSTALLED_FILE = r"(?:site|dist)-packages[\\/]torch[\\/]__init__\.py"
_BUILDS = (
    "cpp_extension",
    "cudaextension",
    "cuda_home",
    "nvcc",
    "flash_attn",
    "flash-attn",
    "apex",
    "mmcv",
    "detectron2",
    "pytorch3d",
)


def _no_attribute(match: re.Match[str], setting: SignatureInput) -> Iterator[Sign]:
    """A file of the user's own that is called torch is in the traceback, or named by Python 3.13; else it may be damage as well."""
    own = match.groupdict().get("renamed") or next(
        (match["path"] for match in passages(setting, ("torch.py", "torch/__init__.py"), _OWN_FILE)), ""
    )
    if own:
        yield sign("local-file-named-torch", path=own)
    elif _installed(setting):
        yield sign("torch-install-damaged", Weight.STATE)
        yield sign("duplicate-torch-installs", Weight.ASIDE)
    else:
        yield sign("local-file-named-torch", Weight.STATE)
        yield sign("torch-install-damaged", Weight.ASIDE)


def _installed(setting: SignatureInput) -> bool:
    return bool(passages(setting, ("torch/__init__.py", "torch\\__init__.py"), _INSTALLED_FILE, most=1))


def _library_gone(match: re.Match[str], setting: SignatureInput) -> Iterator[Sign]:
    """torch's own import does not find its own library; an extension that is imported before torch says the same of it."""
    if _installed(setting):
        yield sign("torch-install-damaged", file=match["file"])


def _no_pkg_resources(_: re.Match[str], setting: SignatureInput) -> Iterator[Sign]:
    if setting.says(*_BUILDS):
        yield sign("pkg-resources-missing")


def _packaging(_: re.Match[str], setting: SignatureInput) -> Iterator[Sign]:
    """torch before 2.2 takes `packaging` from there."""
    if setting.says("cpp_extension"):
        yield sign("known-bad-pair", pair="torch-setuptools70")


SIGNATURES = (
    Signature(
        ("cuda used to build pytorch",),
        r"PyTorch version: (?P<torch>\S{1,60})\s+Is debug build: \w+\s+CUDA used to build PyTorch: (?:None|Could not collect)\b"
        r"(?!\s+ROCM used to build PyTorch: \d)[^\0]{0,1500}?Is CUDA available: (?:No|False)\b",
        _built_without,
        window=2000,
    ),
    Signature(
        ("is_available", "cuda available", "cuda is available"),
        one_of(
            r"CUDA (?:is )?available\W{1,6}(?:No|False)\b",
            r"is_available(?:\(\))?[^\w\n]{0,12}(?:(?:is|was|returns?|gives|返回|发现是|为)[^\w\n]{0,6})?"
            r"\s{0,3}(?:Out\[\d{1,4}\]: |>>> |return )?False\b",
            r"is_available\(\)\)[\"']{0,2}\n(?:[^\n]{0,60}[ \t])?False\b",
        ),
        _unavailable,
    ),
    Signature(
        ("false", "no cuda", "no gpu", "not available", "without cuda", "using cpu"),
        r"(?i:\bFalse\b|\bNo (?:CUDA|GPU)|not available|without CUDA|using CPU)",
        _answered,
        window=60,
    ),
    Signature(
        ("module 'torch' has no attribute",),
        rf"module 'torch' has no attribute '{_ALWAYS}'(?: \(consider renaming '(?P<renamed>[^'\n]{{1,200}})')?",
        _no_attribute,
        window=400,
    ),
    Signature(
        (
            "from 'torch' (unknown location)",
            "<module 'torch' (namespace)",
            "'torch' from partially initialized",
            "'torch' (<_frozen",
        ),
        one_of(
            r"cannot import name '\w{1,40}' from 'torch' \(unknown location\)",
            r"<module 'torch' \((?:namespace|<_frozen_importlib_external\.\w{0,20}Namespace)[^\n]{0,80}",
        ),
        _no_attribute,
    ),
    Signature(
        ("failed to load pytorch c extensions", "folder of the pytorch repository"),
        r"Failed to load PyTorch C extensions",
        means("local-file-named-torch", in_sources="yes"),
    ),
    Signature(
        ("file too short", "invalid elf header", "cannot read file data", "elf file's phentsize", "elf load command"),
        r"(?<![\w.-])(?P<file>(?:[^\s:'\"(]{0,240}(?:site|dist)-packages/(?:torch|nvidia)/[^\s:'\"(]{1,160}|lib(?:torch|c10)\w{0,20})"
        r"\.so[.\d]{0,12}): (?:file too short|invalid ELF header|cannot read file data[^\n]{0,40}|ELF [^\n]{0,60})",
        means("torch-install-damaged"),
    ),
    Signature(
        ("libtorch_", "libc10", "libshm.so"),
        r"(?<![\w.-])(?P<file>(?:libtorch_(?:cuda|cpu|python|global_deps|cuda_linalg)|libc10(?:_cuda)?|libshm)\.so): "
        r"cannot open shared object file",
        _library_gone,
    ),
    Signature(
        ("record file",),
        one_of(
            r"Cannot uninstall torch(?:vision|audio)? [^\n]{0,40}RECORD file not found",
            r"no RECORD file was found for torch(?:vision|audio)?\b",
        ),
        means("torch-install-damaged"),
    ),
    Signature(("pkg_resources",), r"No module named ['\"]?pkg_resources['\"]?", _no_pkg_resources),
    Signature(("from 'pkg_resources'",), r"cannot import name 'packaging' from 'pkg_resources'", _packaging),
)
