"""A list of NVIDIA's packages in which torch itself is not named: which builds of torch they are the set of."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gpuassist.diagnose.package_lists import builds_of, in_words
from gpuassist.diagnose.signature import Sign, Signature, SignatureInput, sign
from gpuassist.diagnose.torch_companions import other_wheel
from gpuassist.formats.package_list import listed_packages
from gpuassist.model.fact import value_or
from gpuassist.model.lazy_regex import lazy_regex
from gpuassist.model.paste import Weight
from gpuassist.model.text import text

# What stands around a list: its heading, the command, an empty line, a prompt.
_AROUND = lazy_regex(
    r"^\s*(?:$|Package\s+Version|-{3,}[- ]*$|#|[│┃|+─━-]|Using Python|\S{0,60}[$#%>❯] |\(\S{1,40}\) \S{0,60}[$#>] "
    r"|Name:|Summary:|Location:|Version:|Home-page:|Author|License:|Requires:|Required-by:|pip3? |conda |uv )"
)
_ROW = lazy_regex(r"^\s*(?:\[(?:pip3?|conda)\] ?)?[A-Za-z][\w.-]{0,60}(?:==|[ \t]{1,60})\d[\w.!+]{0,40}(?:\s|$)")
_MOST = 400  # lines of a list


def _alone(_: re.Match[str], setting: SignatureInput) -> Iterator[Sign]:
    """Nothing but a list, without a torch."""
    if setting.case.torches:
        return
    lines = setting.paste.words.split("\n")
    if len(lines) > _MOST or not all(_ROW.match(line[:300]) or _AROUND.match(line[:300]) for line in lines):
        return
    every = tuple(listed_packages(enumerate(lines, 1)))
    if any(one.name in {"torch", "pytorch"} for one in every):
        return
    wheels = {one.name: one.version for one in every}
    builds = builds_of(setting.case.knowledge, wheels, value_or(setting.case.machine.host.architecture, "") or "x86_64")
    if builds:
        yield sign("healthy", Weight.STATE, wheels=in_words(builds), lacking=text("torch, GPU and driver"))
        return
    wrong = other_wheel(setting, "")
    if wrong is not None:
        yield sign("mixed-nvidia-pip-wheels", Weight.STATE, **wrong, seen="yes")


SIGNATURES = (
    Signature(
        ("nvidia-cu", "nvidia-nccl", "nvidia-nvjitlink", "nvidia_cu"),
        r"nvidia[-_](?:cu|nccl|nvjitlink)[\w-]{1,30}(?:==|[ \t]{1,60})\d[\w.]{1,30}",
        _alone,
        window=120,
    ),
)
