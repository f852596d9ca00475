"""What conda, mamba and pixi say where packages and `__cuda`, the CUDA that the driver serves, do not go together."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gpuassist.diagnose.hints import driver_version
from gpuassist.diagnose.signature import Sign, Signature, SignatureInput, means, one_of, passages, sign
from gpuassist.knowledge.specifier import version_in
from gpuassist.model.fact import Known
from gpuassist.model.paste import Weight

_RELEASE = r"\d{1,2}(?:\.\d{1,2}){0,2}"
_SEEN = (("__cuda",), rf"(?<!\w)__cuda(?:={{1,2}}|-)(?P<seen>{_RELEASE})(?=[=\-\s\],]|$)")
_NO_DRIVER_SEEN = ("your installed cuda driver is: not available", "your installed version is: not available")


def _too_old(match: re.Match[str], setting: SignatureInput) -> Iterator[Sign]:
    """A package wants a newer CUDA of the driver than conda sees; where it sees none, it looked on a computer without one."""
    found = match.groupdict()
    wanted = next((found[name] for name in ("wanted", "wanted2", "wanted3", "wanted4") if found.get(name)), "")
    seen = found.get("seen") or _seen(setting)
    need, have = version_in(wanted) if wanted else None, version_in(seen) if seen else None
    if need is not None and have is not None:
        if have.release < need.release:
            yield sign("driver-too-old-for-cuda", Weight.CAUSE, served=seen, cuda=_dotted(wanted), driver=driver_version(setting))
        else:
            yield sign("conda-resolved-cpu-build", Weight.STATE)
        return
    yield sign("conda-resolved-cpu-build", Weight.STATE)
    if need is not None and not setting.says(*_NO_DRIVER_SEEN):
        yield sign("driver-too-old-for-cuda", Weight.STATE, cuda=_dotted(wanted))


def _seen(setting: SignatureInput) -> str:
    """The CUDA of the driver that conda tells, or that the facts know."""
    told = {match["seen"] for match in passages(setting, *_SEEN)}
    if len(told) == 1:
        return told.pop()
    own = setting.case.machine.driver.cuda_version
    return str(own.value) if isinstance(own, Known) and setting.case.running else ""


def _dotted(release: str) -> str:
    return release if "." in release else f"{release}.0"


def _python(_: re.Match[str], setting: SignatureInput) -> Iterator[Sign]:
    if setting.says("incompatible", "conflict", "not be solved", "could not solve"):
        yield sign("pip-no-matching-python", Weight.STATE)


SIGNATURES = (
    Signature(  # torch and the package that chooses its CUDA, each of which is there, and not together
        ("pytorch-cuda", "cudatoolkit"),
        one_of(
            r"package pytorch-\d\S{1,80} requires (?:pytorch-cuda|cudatoolkit) [^\n]{1,60}, but none of the providers",
            r"(?:pytorch-cuda|cudatoolkit) [^\n]{1,60} ?, which conflicts with any installable versions",
            r"- pytorch[ =][^\n]{1,60} -> (?:pytorch-cuda|cudatoolkit)[ =\[<>][^\n]{1,60}",
        ),
        means("conda-channel-frozen", Weight.STATE),
        window=300,
    ),
    Signature(
        ("python >=", "python 3", "python_abi 3"),
        r"(?:pytorch|torchvision|tensorflow|jaxlib|cupy|xformers|rapids|cud[fn]\w{1,4}) [^\n]{1,120}"
        r"(?:would require|requires)[\s│├└─]{1,80}python(?:_abi)? [^\n]{1,60}"
        r"(?:which conflicts with any installable|for which no candidates)",
        _python,
        window=300,
    ),
    Signature(
        ("has constraint __cuda", "__cuda[version=", "__cuda >", "__cuda=", "__cuda=="),
        one_of(
            rf"has constraint __cuda >=?(?P<wanted>{_RELEASE})[^\n]{{0,20}} conflicting with __cuda-(?P<seen>{_RELEASE})",
            rf"__cuda\[version='(?:\(?[^'\n]{{0,60}}\|)?>=(?P<wanted2>{_RELEASE})",
            rf"__cuda >=(?P<wanted3>{_RELEASE})[^\n]{{0,40}}?(?:, (?:which (?:conflicts with any installable|is missing)"
            r"|for which no candidates were found)|' does not match any of the available virtual packages| needed by| is missing)",
            rf"nothing provides (?:requested )?__cuda >=(?P<wanted4>{_RELEASE})",
        ),
        _too_old,
        window=300,
    ),
    Signature(
        ("virtual package '__cuda", "__cuda *, for which", "system requirement"),
        r"Virtual package '__cuda(?: \*)?' does not match any|__cuda \*, for which no candidates were found",
        _too_old,
        window=200,
    ),
)
