"""What a text says beside its messages, in a command's output or in prose: releases of tools that decide between causes.

Readers make facts of whole outputs; this reads the single words that people add (`# gcc 11.4, cuda 11.8`).
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from gpuassist.diagnose.signature import SignatureInput, passages
from gpuassist.knowledge.specifier import version_in
from gpuassist.model.fact import Known, value_or
from gpuassist.model.version import ComputeCapability, Target, Version

# A toolkit's release, surest first. nvidia-smi's table names the driver's CUDA, collect_env torch's own: neither is nvcc's.
_TOOLKIT = (
    (("compilation tools, release", "cuda compiler driver", "nvcc release"), r"release (\d{1,2}\.\d{1,2})\b"),
    (("cuda compiler identification",), r"CUDA compiler identification is NVIDIA (\d{1,2}\.\d{1,2})"),
    (("nvcc",), r"cuda[-/\\]v?(\d{1,2}\.\d)\b[\\/]bin[\\/]+nvcc"),
    (("nvcc",), r"\bnvcc(?:\.exe)?(?: (?:version|release|is))?[ :=]{1,2}v?(\d{1,2}\.\d)(?![.\d]*\.so)"),
    (("found cuda",), r"Found CUDA(?:Toolkit)?: [^\n]{0,200}?version \"(\d{1,2}\.\d)"),
    (("cuda-", "cuda\\v"), r"[/\\]cuda[-\\]v?(\d{1,2}\.\d)\b"),
    (
        ("cuda", "toolkit"),
        r"(?<![A-Za-z0-9_.+-])(?:cuda(?:[ _-]?toolkit)?|toolkit)"
        r"(?: (?:version|release|toolkit|is|was|of|installed)|的?版本[是为]?|バージョン)*"
        r"(?:\s{0,3}[:：=(]{1,2}\s{0,3}|\s|-|)[vV]?(\d{1,2}\.\d)(?![\d+]|\.\d+\.so)",
    ),
)
_NOT_TOOLKIT = ("driver version", "cuda used to build", "with cuda", "requires cuda", "need cuda", "needs cuda", "runtime version")
_GCC = (
    (("gcc", "g++"), r"\bg(?:cc|\+\+)(?:\.exe| version:)? ?\([^()\n]{0,80}\) ?(\d{1,2}(?:\.\d{1,2}){1,2})"),
    (("identification is gnu",), r"(?:C|CXX|C\+\+) compiler identification is GNU (\d{1,2}(?:\.\d{1,2}){0,2})"),
    (
        ("gcc", "g++"),
        r"\bg(?:cc|\+\+)(?: (?:and|&) g(?:cc|\+\+))?(?: version| is|的?版本[是为]?)?[ :：=-]{0,3}v?(\d{1,2}(?:\.\d{1,2}){0,2})\b",
    ),
    (("/include/c++/", "/lib/gcc/"), r"(?:/include/c\+\+/|/lib/gcc/[\w.-]{1,40}/)(\d{1,2}(?:\.\d{1,2}){0,2})/"),
)
_PYTHON = (
    (("python version",), r"Python version: ?(\d\.\d{1,2})"),
    (("python",), r"/(?:lib|site-packages/)?python(\d\.\d{1,2})/"),
    (("python",), r"\bpython(?: version|的?版本[是为]?)?[ :：=]{0,3}v?(\d\.\d{1,2})(?:\.\d{1,2})?\b"),
    (("cpython-3", "cp3"), r"(?:cpython-|\bcp)(3\d{1,2})\b"),
    (("py3",), r"\bpy(3\.?\d{1,2})\b"),
)
# The last CUDA release that was made for a system (CUDA installation guides), by the number that people give it.
_LAST_CUDA_OF = {"12.04": "7.5", "14.04": "10.2", "16.04": "11.3", "18.04": "12.2", "20.04": "12.9"}
_MAC = (
    ("mac ", "a mac", "my mac", "on mac", "macbook", "macos", "mac os", "apple", "darwin", "osx-", "macosx"),
    r"\bmac ?(?:book|os|mini|studio)|\bmac m\d\b|\b(?:on|with) (?:an? |my |the )?mac\b|\bapple (?:m\d|silicon)\b|\bdarwin\b"
    r"|\bosx-(?:arm64|64)\b|\bmacosx_\d",
)
_NO_GPU = (
    ("gpu", "graphics card", "cuda device", "nvidia card", "cpu only", "cpu-only", "+rocm", "rocm used", "显卡"),
    r"\+rocm\d|ROCM used to build PyTorch: \d|\bno (?:nvidia )?(?:gpu|graphics card) (?:in|on) (?:this|the|my)\b"
    r"|\b(?:(?:machine|computer|laptop|server|pc|node|instance|vm)s? without|has no|have no|don't have|do not have)"
    r" (?:an? |any )?(?:nvidia |cuda )?(?:gpu|graphics card|cuda device)|\bcpu[- ]only (?:machine|server|laptop|computer|instance)"
    r"|没有(?:nvidia|英伟达|独立)?\s?(?:显卡|gpu)",
)
OLDEST = ComputeCapability(5, 0)  # no build of torch that is still made has code for less, but for 3.7
_SUPPOSED = ("if you ", "when you ", "in case you", "make sure", "如果")


@lru_cache(maxsize=1)
def toolkit_releases(setting: SignatureInput) -> tuple[Version, ...]:
    """The releases that nvcc may be of, the surest first: what the text says, then the toolkit of the facts."""
    found = list(releases_said(setting))
    toolkit = setting.case.toolkit
    every = (toolkit,) if toolkit is not None else value_or(setting.case.machine.toolkits, ())
    found += [one.version.value.release for one in every if isinstance(one.version, Known)]
    return tuple(dict.fromkeys(one for one in found if 2 <= one.major < 30))


def releases_said(setting: SignatureInput) -> tuple[Version, ...]:
    """Those of them that the text itself names."""
    return tuple(Version.parse(words).release for words in _said(setting, _TOOLKIT, _NOT_TOOLKIT))


def nvcc_release(setting: SignatureInput) -> str:
    """The surest of them; empty where nothing says."""
    return next(map(str, toolkit_releases(setting)), "")


def gcc_version(setting: SignatureInput) -> str:
    """The version of gcc, as exactly as the text says it; empty where it does not."""
    said = tuple(words for words in _said(setting, _GCC) if Version.parse(words).major > 2)
    if said:
        major = Version.parse(said[0]).major
        return next((words for words in said if "." in words and Version.parse(words).major == major), said[0])
    return str(setting.case.gcc.version.value) if setting.case.gcc and isinstance(setting.case.gcc.version, Known) else ""


def newest_possible(setting: SignatureInput) -> Version | None:
    """The newest CUDA release that the system in the text can have, generously; None where it does not tell."""
    said = r"(?:ubuntu|linux mint|debian|centos|rhel)[^\n\d]{0,20}(\d{1,2}(?:\.\d{2})?)\b"
    for match in passages(setting, ("ubuntu", "debian", "centos", "rhel"), said):
        release = _LAST_CUDA_OF.get(match[1])
        if release:
            return Version.parse(release)
    return None


def python_version(setting: SignatureInput) -> str:
    """The release of Python, `3.12`; empty where nothing says."""
    for words in _said(setting, _PYTHON):
        digits = words.replace(".", "")
        return f"{digits[0]}.{digits[1:]}"
    for one in value_or(setting.case.machine.environments, ()):
        if isinstance(one.python_version, Known):
            return str(one.python_version.value.release)
    return ""


def package_version(setting: SignatureInput, package: str) -> str:
    """The version of a Python package as a list, a pin or a sentence names it (`torch 2.3.0`, `torch==2.3.0`, `torch: 2.3.0`)."""
    name = package.lower().replace("-", "[-_]")
    version = r"(\d{1,4}(?:\.\w{1,12}){1,5}(?:\+[\w.]{1,30})?)"
    pattern = rf"(?<![\w.-]){name}(?:[ -]version)?(?:['\"]?(?:==|: ?| ?= ?|-)| {{1,40}}v?\(?){version}"
    shown = rf"(?m:^)Name: {name}\s{{1,3}}Version: {version}"
    lowered = package.lower()
    spellings = tuple(dict.fromkeys((lowered, lowered.replace("-", "_"))))
    found = (match[1] for wording in (pattern, shown) for match in passages(setting, spellings, wording))
    return next(found, "")


def torch_version(setting: SignatureInput) -> str:
    """torch's version, with its build where that is told; empty where nothing says."""
    for installed in setting.case.torches:
        if isinstance(installed.torch.version, Known):
            return installed.torch.version.value
    said = (
        r"(?:__version__(?:\W{0,40}|[^\n]{0,60}\n\W{0,3})|PyTorch version:? ?)(\d\.\d{1,2}\.\d{1,2}[\w.]{0,20}(?:\+[\w.]{1,20})?)"
    )
    found = next((match[1] for match in passages(setting, ("__version__", "pytorch version"), said)), "")
    return found or package_version(setting, "torch") or package_version(setting, "pytorch")


def torch_cuda(setting: SignatureInput) -> str:
    """The CUDA that torch was built with; empty where nothing says."""
    for installed in setting.case.cuda_torches:
        if isinstance(installed.torch.cuda, Known):
            return str(installed.torch.cuda.value.release)
    digits = torch_version(setting).partition("+cu")[2]
    return f"{digits[:-1]}.{digits[-1]}" if digits.isdigit() and len(digits) > 1 else ""


def capability(setting: SignatureInput) -> ComputeCapability | None:
    """The compute capability of the only GPU, by the facts or by what the text says of it."""
    known = {card.capability.value for card in setting.case.cards if isinstance(card.capability, Known)}
    said = (
        r"(?:compute|cuda) capability(?: is| of)?[ :=(]{1,3}(\d{1,2})\.(\d)\b"
        r"|get_device_capability\([^\n]{0,30}\n\W{0,3}(\d{1,2}), (\d)\)"
    )
    for match in passages(setting, ("capability",), said) if not known else ():
        known.add(ComputeCapability(int(match[1] or match[3]), int(match[2] or match[4])))
    return known.pop() if len(known) == 1 else None


def targets_listed(setting: SignatureInput) -> tuple[Target, ...]:
    """The architectures that nvcc lists, each on a line of its own (`nvcc --list-gpu-arch`)."""
    found = (match[1] for match in passages(setting, ("compute_", "sm_"), r"(?m)^[ \t>]*((?:compute|sm)_\d{2,3})[ \t]*$"))
    return tuple(sorted({Target.parse(words.lower()) for words in found}))


def without_gpu(setting: SignatureInput) -> bool:
    """Whether the text says that the computer has no NVIDIA GPU: a Mac, a torch for AMD's, or none at all."""
    return any(
        not any(word in _line(setting, match.start()).lower() for word in _SUPPOSED)
        for literals, pattern in (_MAC, _NO_GPU)
        for match in passages(setting, literals, pattern)
    )


def memory_was_free(setting: SignatureInput) -> bool:
    """Whether XLA says that a quarter of the GPU's memory or more was free when a library did not start."""
    pattern = r"Memory usage: (\d{1,15}) bytes free, (\d{1,15}) bytes total"
    return any(int(match[1]) * 4 > int(match[2]) for match in passages(setting, ("bytes free",), pattern))


def _said(
    setting: SignatureInput, wordings: tuple[tuple[tuple[str, ...], str], ...], unless: tuple[str, ...] = ()
) -> Iterator[str]:
    """What a pattern's first group holds, wording by wording."""
    for literals, pattern in wordings:
        for match in passages(setting, literals, pattern):
            line = _line(setting, match.start()).lower()
            if version_in(match[1]) is not None and not any(words in line for words in unless):
                yield match[1]


def _line(setting: SignatureInput, offset: int, reach: int = 300) -> str:
    """The line that a place stands in, of a very long one what is near."""
    words = setting.paste.words
    start = max(words.rfind("\n", max(0, offset - reach), offset) + 1, offset - reach, 0)
    end = words.find("\n", offset, offset + reach)
    return words[start : end if end >= 0 else offset + reach]
