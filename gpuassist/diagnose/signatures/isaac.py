"""Isaac Gym: the shared library of its Python, and a GPU that came after the torch which its Pythons end with."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gpuassist.diagnose.architectures import judge_architecture
from gpuassist.diagnose.engine_torch import of_isaac_gym, without_code
from gpuassist.diagnose.named_in_words import cards_named
from gpuassist.diagnose.signature import Sign, Signature, SignatureInput, sign
from gpuassist.diagnose.tool_releases import python_version, torch_version
from gpuassist.diagnose.torch_choice import offered, torch_to_install
from gpuassist.knowledge.specifier import version_in
from gpuassist.model.paste import Weight
from gpuassist.model.text import text
from gpuassist.model.version import Target, Version


def _libpython(match: re.Match[str], setting: SignatureInput) -> Iterator[Sign]:
    """Of any other program it is nothing of the GPU's."""
    if not of_isaac_gym(setting):
        cause = text("the shared library of Python, {library}, is not where the loader looks", library=match["library"])
        yield sign("not-a-gpu-problem", Weight.STATE, cause=cause)
        return
    for gpu, capability in cards_named(setting):
        told = without_code(setting.case, "isaac-gym", capability)
        if told:
            yield sign("libpython-not-found", Weight.CAUSE, library=match["library"], gpu=gpu, **told)
            return
    yield sign("libpython-not-found", library=match["library"], engine="Isaac Gym")


def _nvrtc(_: re.Match[str], setting: SignatureInput) -> Iterator[Sign]:
    """The CUDA of this torch does not know the GPU: it is newer. What runs in old Pythons alone may have no torch for it at all.
    Programs without torch compile with the CUDA that is installed, which may also be too new for the GPU.
    """
    if not setting.says("torch", "isaac"):
        for _gpu, capability in cards_named(setting):
            yield from judge_architecture(setting, Target.parse(f"sm_{str(capability).replace('.', '')}"))
            return
    for gpu, capability in cards_named(setting):
        told = without_code(setting.case, "isaac-gym", capability) if of_isaac_gym(setting) else {}
        if told:
            parameters = {**told, "instead": "isaac-lab"}
        else:
            python = version_in(python_version(setting)) or (Version((3, 8)) if of_isaac_gym(setting) else None)
            environment = next((one.environment for one in setting.case.torches), None)
            choice = torch_to_install(setting.case, environment, (capability,), python=python)
            parameters = offered(setting.case, choice, (capability,), python)
        shown = {"gpu": gpu, "capability": str(capability), "newer": "yes", "torch": torch_version(setting), "nvrtc": "yes"}
        yield sign("torch-lacks-sm", Weight.CAUSE, **shown, **parameters)
        return
    yield sign("torch-lacks-sm", Weight.STATE)


SIGNATURES = (
    Signature(
        ("libpython3.",),
        r"(?P<library>libpython3\.\d{1,2}m?\.so(?:\.1\.0)?): cannot open shared object file",
        _libpython,
        window=120,
    ),
    Signature(("invalid value for --gpu-architecture",), r"nvrtc: error: invalid value for --gpu-architecture", _nvrtc),
)
