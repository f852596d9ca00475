"""NVIDIA's way to a newer CUDA without another driver: the library of a newer one, for data-centre GPUs."""

from __future__ import annotations

from gpuassist.diagnose.case import RuleInput
from gpuassist.knowledge.compatibility import CompatPackage
from gpuassist.model.fact import Unknown
from gpuassist.model.version import Version


def package_for(case: RuleInput, cuda: Version) -> CompatPackage | None:
    """The package that lets the driver which is there run programs of a newer CUDA; it is made for some branches alone."""
    there = case.serving
    elsewhere = case.without_flavours or case.virtual or bool(case.container)
    if elsewhere or isinstance(there, Unknown) or not case.for_servers or case.serves(cuda):
        return None
    fitting = (one for one in case.knowledge.compat_packages() if there.value.major in one.branches and one.cuda >= cuda.release)
    return min((one for one in fitting if one.cuda.major == cuda.major), key=lambda one: one.cuda, default=None)
