"""The build of torch that a conda command may name: one that the table of conda's builds has, also without a machine."""

from __future__ import annotations

from gpuassist.diagnose.case import RuleInput
from gpuassist.knowledge.conda import arguments, named_build
from gpuassist.knowledge.specifier import version_in
from gpuassist.model.fact import Known, value_or
from gpuassist.model.text import Parameter


def named_torch(case: RuleInput, torch: str) -> dict[str, Parameter]:
    """The parameters of a finding about this torch of conda's: its version, and the command's `arguments` with their `cuda`;
    without these where no build of it is known that serves the GPUs and the driver at hand.
    """
    wanted = version_in(torch)
    if wanted is None:
        return {"torch": torch}
    knowledge = case.knowledge
    build = named_build(
        knowledge.conda(),
        knowledge.torch_builds(wanted),
        wanted,
        machine=value_or(case.machine.host.architecture, "") or "x86_64",
        capabilities=case.capabilities,
        driver=case.driver.value if isinstance(case.driver, Known) else None,
    )
    if build is None:
        return {"torch": torch}
    return {"torch": torch, "cuda": str(build.cuda), "arguments": arguments(build)}
