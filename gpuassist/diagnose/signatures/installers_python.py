"""What pip, uv, poetry and conda say where no wheel is for this Python or only one without CUDA, and a Python without torch."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gpuassist.diagnose.conda_torch import named_torch, origin
from gpuassist.diagnose.signature import Sign, Signature, SignatureInput, means, one_of, passages, sign
from gpuassist.diagnose.tool_releases import python_version, without_gpu
from gpuassist.formats.conda_build import read_build
from gpuassist.formats.torch_packages import LineKind, mentions
from gpuassist.model.lazy_regex import lazy_regex
from gpuassist.model.paste import Weight
from gpuassist.model.text import Parameter, text
from gpuassist.model.version import Version, VersionError

# Packages with CUDA code, whose wheels are for certain Pythons; of any other one a missing wheel has nothing to do with the GPU.
_OF_CUDA = lazy_regex(
    r"^(?:torch|torchvision|torchaudio|torchtext|pytorch\S*|tensorflow\S*|tf-nightly\S*|jax\S*|xformers|flash[-_]attn|bitsandbytes|triton"
    r"|nvidia-\S+|cupy\S*|onnxruntime-gpu|paddlepaddle-gpu|tensorrt\S*|vllm|mxnet-cu\S*|cu(?:ml|df|graph)\S*|spconv\S*|torch-\S+|mmcv\S*"
    r"|deepspeed|apex|auto-gptq|faiss-gpu|numba-cuda|cuda-\S+|pytorch3d|nvidia)$",
    re.IGNORECASE,
)
_NETWORK = (
    "failed to establish a new connection",
    "temporary failure in name resolution",
    "name or service not known",
    "proxyerror",
    "sslerror",
    "certificate verify failed",
    "connecttimeouterror",
    "newconnectionerror",
)


def _none_found(match: re.Match[str], setting: SignatureInput) -> Iterator[Sign]:
    """pip says what it did find: from that it follows whether the Python, the index or the name is wrong."""
    requirement = match["requirement"].rstrip(".,;")
    package, _, wanted = requirement.partition("==")
    if not _OF_CUDA.match(re.split(r"[\[<>=!~ ;(]", package)[0]):
        return
    if setting.says(*_NETWORK):
        yield sign("not-a-gpu-problem", cause_id="network", cause=text("the package index could not be reached"))
        return
    found = [one.strip() for one in (match.groupdict().get("versions") or "").split(",") if one.strip() not in {"", "none"}]
    if "+cu" in wanted and without_gpu(setting):
        yield sign("no-nvidia-gpu")
        yield sign("pip-no-matching-python", Weight.STATE)
    elif "+cu" in wanted and not _asked_there(setting, match) and _elsewhere(setting, wanted, found):
        told = bool(found) or bool(python_version(setting))
        weight, other = (Weight.CAUSE, Weight.STATE) if told else (Weight.STATE, Weight.ASIDE)
        yield sign("pip-wrong-index", weight, **_index_parameters(package, wanted), requirement=requirement)
        yield sign("pip-no-matching-python", other)
    else:
        yield sign("pip-no-matching-python", Weight.CAUSE, package=requirement, **_pythons(setting, package, wanted))
        if "+cu" in wanted:
            yield sign("pip-wrong-index", Weight.STATE)


def _asked_there(setting: SignatureInput, match: re.Match[str]) -> bool:
    """Whether pip looked at PyTorch's own index, by its own words or the command before it."""
    pattern = r"(?:Looking in \w{1,10}:|\binstall\b|-url\b|-f )[^\n]{0,160}download\.pytorch\.org"
    return any(one.start() < match.start() for one in passages(setting, ("download.pytorch.org",), pattern))


def _elsewhere(setting: SignatureInput, wanted: str, found: list[str]) -> bool:
    """Whether the index lacks the build alone: it has that release, or others while this Python would do."""
    if any("+cu" in one for one in found):
        return False
    if found:
        return wanted.partition("+")[0] in found
    if setting.says("from versions: none"):
        return False
    pythons, here = _served(setting, wanted), python_version(setting)
    return not here or not pythons or Version.parse(here) in pythons


def _served(setting: SignatureInput, torch: str) -> tuple[Version, ...]:
    """The Pythons with wheels of a torch."""
    try:
        release = setting.case.knowledge.torch_release(Version.parse(torch))
    except VersionError:
        return ()
    return release.pythons if release is not None else ()


def _pythons(setting: SignatureInput, package: str, wanted: str) -> dict[str, Parameter]:
    """The Python that is here, and those that have wheels of what is wanted."""
    here = python_version(setting)
    served = _served(setting, wanted) if package == "torch" and wanted else ()
    if not served:
        return {"python_version": here}
    if here and Version.parse(here) in served:
        return {}
    return {
        "python_version": here,
        "pythons": f"{served[0]} to {served[-1]}" if len(served) > 1 else str(served[0]),
        "wanted_python": str(served[-1]),
    }


def _index_parameters(package: str, wanted: str) -> dict[str, Parameter]:
    release, _, tag = wanted.partition("+")
    return {"torch": release, "tag": tag} if package == "torch" else {"tag": tag}


def _other_platform(match: re.Match[str], setting: SignatureInput) -> Iterator[Sign]:
    """The name of a wheel says which Python and which system it is for."""
    digits = match["python"] or ""
    wanted = f"{digits[0]}.{digits[1:]}" if digits else ""
    # The Python of the text that is not the one which the wheel is for.
    here = python_version(setting)
    here = "" if here == wanted else here
    yield sign("pip-no-matching-python", package=match["package"], wanted_python=wanted, python_version=here)


def _uv(match: re.Match[str], setting: SignatureInput) -> Iterator[Sign]:
    package = f"{match['package']}=={match['version']}"
    pythons = _pythons(setting, match["package"], match["version"])
    yield sign("pip-no-matching-python", Weight.CAUSE, package=package, **pythons)


def _no_version(match: re.Match[str], _: SignatureInput) -> Iterator[Sign]:
    """An index without a `+cu` build is the wrong one."""
    if _OF_CUDA.match(match["package"]):
        tag = _index_parameters(match["package"].lower(), match["version"])
        yield sign("pip-wrong-index", Weight.CAUSE, **tag, requirement=f"{match['package']}=={match['version']}")


def _pinned(match: re.Match[str], setting: SignatureInput) -> Iterator[Sign]:
    """Two of what was asked for want different torches, and the resolver gives up."""
    package, wanted = match["package"].lower().replace("_", "-"), match["wanted"]
    asked = r"(?:requested|requires?|depends on) torch ?(?:==|\(=?=?)(?P<torch>\d[\w.]{1,20})"
    others = [one["torch"] for one in passages(setting, (" torch",), asked) if one["torch"].rstrip(".") != wanted]
    if not setting.says(*_UNRESOLVED) or not others:
        return
    torch, version = others[0].rstrip("."), match["version"]
    if package == "torchvision":
        yield sign("torchvision-torch-mismatch", torch=torch, torchvision=version)
    elif package == "torchaudio":
        yield sign("torchvision-torch-mismatch", torch=torch, package=package)
    elif package == "xformers":
        yield sign("xformers-torch-mismatch", torch=torch, built=wanted)
    else:
        yield sign("torch-pinned-by-package", package=package, requested="yes", torch=torch, wanted=wanted, version=version)


def _conda_cpu(match: re.Match[str], setting: SignatureInput) -> Iterator[Sign]:
    """A build whose name begins with `cpu`; where it was asked for, or there is no NVIDIA GPU, it is the right one."""
    if without_gpu(setting):
        yield sign("no-nvidia-gpu")
        return
    torch = match.groupdict().get("torch") or ""
    if torch and match[0].startswith("pytorch") and not _comes_in(setting, match):
        return
    if any(True for _ in passages(setting, ("cpuonly",), r"conda install[^\n]{0,200}\bcpuonly\b")):
        yield sign("torch-cpu-only", torch=torch)
    words, named = setting.paste.words, named_torch(setting.case, torch)
    line = words[words.rfind("\n", 0, match.start()) + 1 :].partition("\n")[0][:1000]
    yield sign("conda-resolved-cpu-build", Weight.CAUSE, **named, **origin(setting, line, str(named.get("arguments", ""))))


def _comes_in(setting: SignatureInput, match: re.Match[str]) -> bool:
    """Whether the build is listed or will be installed: `conda search` and what is removed or replaced name it as well."""
    words, line = setting.paste.words, setting.line_at(match.start())
    if "[conda]" in words[words.rfind("\n", 0, match.start()) + 1 : match.start()]:
        return True
    at_line = (one for one in mentions(words) if one.line == line)
    return any(one.standing is not LineKind.REMOVED and read_build(one.build).cpu for one in at_line)


_TORCH = r"(?<![\w/-])(?:pytorch|libtorch)(?:-|[ \t]{1,40}|={1,2})"
_CPU_BUILD = r"(?:[ \t|]{1,40}|-|=)(?:cpu_\w{1,40}|py[\d.]{1,5}_cpu_\w{1,20})"


# A torch that is installed somewhere, as pip, conda and collect_env show it.
_INSTALLED = (
    r"Requirement already satisfied: torch\b|(?m:^Name: torch\s{0,3}$)|(?m:^)\s{0,4}(?:\[\w+\] )?(?:py)?torch(?:==| {2,30})\d+\.\d+"
    r"|PyTorch version: ?\d|Successfully installed [^\n]{0,400}\btorch-\d"
)
_COMPUTES = r"is cuda available: *(?:true|yes)\b|cuda\.is_available\(\)[^\n]{0,20}?[\s:=>]{1,6}true\b"
_UNRESOLVED = ("conflicting dependencies", "resolutionimpossible", "no solution found", "version solving failed", "incompatible")
_BUILDING = (
    "building wheel",
    "requirements to build wheel",
    "get_requires_for_build",
    "build dependencies",
    "setup.py",
    "no-build-isolation",
)


_NOT_INSTALLED = ("could not install packages", "no space left on device", "[errno 28]", "read timed out", "max retries exceeded")


def _no_torch(_: re.Match[str], setting: SignatureInput) -> Iterator[Sign]:
    """A build in isolation never sees the torch of its environment, which is no fault of the interpreter; and what could not be
    installed is not there.
    """
    if setting.says(*_BUILDING) or (setting.says(*_NOT_INSTALLED) and not setting.says("successfully installed")):
        return
    if any(True for _ in passages(setting, ("torch",), _INSTALLED)):
        yield sign("wrong-python-env", Weight.CAUSE)
    else:
        yield sign("wrong-python-env", Weight.STATE, alone="yes")


def _other_torch(_: re.Match[str], setting: SignatureInput) -> Iterator[Sign]:
    """A torch that computes on the GPU does not say that it was built without CUDA: two of them speak here."""
    if any(True for _ in passages(setting, ("available",), _COMPUTES)):
        yield sign("wrong-python-env")


SIGNATURES = (
    Signature(
        ("could not find a version that satisfies the requirement",),
        r"Could not find a version that satisfies the requirement (?P<requirement>[^\s(]{1,120})[^\n(]{0,80}"
        r"(?:\(from (?!versions)[^)]{0,200}\) )?(?:\(from versions: (?P<versions>[^)]{0,2000}))?",
        _none_found,
        window=2400,
    ),
    Signature(
        ("no matching distribution found for",),
        r"No matching distribution found for (?P<requirement>[^\s(]{1,120})",
        _none_found,
        window=200,
    ),
    Signature(
        ("is not a supported wheel on this platform",),
        r"(?<![\w.+%-])(?P<package>[\w.+%-]{1,120}?)-(?:cp|py)(?P<python>3\d{0,2})-[\w.-]{1,80}\.whl\W? is not a supported wheel",
        _other_platform,
        window=400,
    ),
    Signature(
        ("requires a different python",),
        r"Package ['\"]?(?P<package>[\w.-]{1,80})['\"]? requires a different Python: (?P<python_version>\d\.\d{1,2})[\d.]* not in",
        means("pip-no-matching-python"),
    ),
    Signature(
        ("no wheels with a matching python", "only has wheels for", "we only found wheels for"),
        r"(?:Because (?:only )?|and |that )?`?(?P<package>[\w.-]{1,60})`?(?:==| \(v)(?P<version>\d[\w.+]{1,40})\)?"
        r"[^\n]{0,60}?(?:has no wheels with a matching Python|only has wheels for|with the following Python)",
        _uv,
        window=300,
    ),
    Signature(
        ("doesn't have a source distribution or wheel for the current platform", "unable to find installation candidates for"),
        r"(?:Distribution `|Unable to find installation candidates for )(?P<package>[\w.-]{1,60})(?:==| \()"
        r"(?P<version>\d[\w.+]{1,40})",
        _uv,
        window=300,
    ),
    Signature(
        ("incompatible with the existing python installation", "requires python"),
        r"(?:package |- )(?P<package>(?:pytorch|torchvision|tensorflow|cudatoolkit)[\w.=-]{0,60})"
        r"(?: requires python [^\n]{1,60}| -> python\[version=)",
        means("pip-no-matching-python"),
        window=500,
    ),
    Signature(
        ("is not supported on python", "not yet supported for torch.compile"),
        r"Dynamo is not supported on Python 3\.\d+\+?|Python 3\.\d+\+? not yet supported for torch\.compile",
        means("pip-no-matching-python", Weight.STATE),
    ),
    Signature(
        ("there is no version of", "no versions of", "depends on"),
        r"(?:there is no version of|no versions of|depends on) (?P<package>[\w-]{1,60})(?:\[[\w,]{1,40}\])?"
        r"(?:==| match (?:==?)?| \(=?=?)(?P<version>\d[\w.]{1,40}\+cu\d{2,3})(?:\) which doesn't match|(?!\)))",
        _no_version,
        window=200,
    ),
    Signature(
        ("depends on torch",),
        r"(?P<package>[\w-]{2,60})(?:==| \(?)(?P<version>\d[\w.]{1,20})\)? depends on torch ?(?:==|\(=?=?)"
        r"(?P<wanted>\d[\w.]{1,20}\w)(?!\+)",
        _pinned,
        window=200,
    ),
    Signature(
        ("pytorch", "libtorch"),
        one_of(
            rf"{_TORCH}(?P<torch>\d{{1,2}}\.\d{{1,2}}(?:\.\d{{1,2}})?){_CPU_BUILD}",
            r"(?:(?m:^)[ \t+-]*|::)pytorch-mutex(?:-|[ \t]{1,40})1\.0(?:[ \t|]{1,40}|-)cpu\b",
        ),
        _conda_cpu,
        window=240,
    ),
    Signature(
        ("__cuda", "feature:/linux"),
        r"(?:nothing provides|requires|missing|depends on) __cuda\b[^\n]{0,60}|feature:\|?@?/linux-64::__cuda[^\n]{0,80}",
        means("conda-resolved-cpu-build", Weight.STATE),
    ),
    Signature(
        ("readtimeouterror", "read timed out", "incompleteread", "connection broken"),
        r"ReadTimeoutError|Read timed out|IncompleteRead|Connection broken:",
        means("not-a-gpu-problem", cause_id="network", cause=text("the download broke off")),
    ),
    Signature(
        ("do not match the hashes",),
        r"THESE PACKAGES DO NOT MATCH THE HASHES",
        means("not-a-gpu-problem", cause_id="network", cause=text("a downloaded file is damaged or was changed")),
    ),
    Signature(
        ("no space left on device",),
        r"\[Errno 28\] No space left on device",
        means("not-a-gpu-problem", cause_id="disk", cause=text("the disk is full")),
    ),
    Signature(
        ("externally-managed-environment",),
        r"error: externally-managed-environment",
        means("not-a-gpu-problem", cause_id="pip", cause=text("this Python belongs to the distribution, which closes it to pip")),
    ),
    Signature(("no module named",), r"No module named '?torch'?(?![\w.])", _no_torch),
    Signature(("not compiled with cuda",), r"Torch not compiled with CUDA enabled", _other_torch),
)
