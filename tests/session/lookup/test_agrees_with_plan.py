"""What is said of a GPU is what a plan takes for it: the same driver, module, CUDA and torch."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from gpuassist.context import Session
from gpuassist.install.what_if import Wish, imagine
from gpuassist.knowledge.compatibility import kernels_run
from gpuassist.model.chain import Part
from gpuassist.model.outlook import Goal, GoalKind, Outlook
from gpuassist.model.version import ComputeCapability, Target
from gpuassist.model.words import ENGLISH
from gpuassist.session.lookup import architectures, gpus
from gpuassist.session.plan import plan_goals
from tests.fakes import world_under
from tests.knowledge.shipped import KNOWLEDGE
from tests.rows import for_each

GPUS = (
    *("RTX 4060", "RTX 5090", "GTX 1080 Ti", "Tesla K80", "V100", "A100-SXM4-80GB", "H100", "B200", "RTX 2080 Ti", "GTX 970"),
    *("RTX 4090 Laptop GPU", "L40S", "T4", "RTX PRO 6000 Blackwell", "GTX 1650", "Titan V", "RTX A6000"),
)


def planned(session: Session, name: str, *kinds: GoalKind) -> Outlook:
    machine = imagine(session, Wish(gpus=(name,), distribution="ubuntu 24.04"))
    return plan_goals(session, machine, tuple(Goal(kind) for kind in kinds))


def part(outlook: Outlook, wanted: Part) -> str:
    return ENGLISH(next(node.name for node in outlook.after[0].nodes if node.part is wanted))


@for_each("name", GPUS)
def test_a_plan_takes_what_is_said_of_the_gpu(tmp_path: Path, name: str) -> None:
    session = Session(world_under(tmp_path), KNOWLEDGE, ENGLISH)
    taken: Any = gpus.answer(KNOWLEDGE, name).record["plan"]
    torch = planned(session, name, GoalKind.TORCH)
    if taken["torch"] is None:
        assert torch.blocked_by
    else:
        assert taken["torch"] in part(torch, Part.TORCH), part(torch, Part.TORCH)
        assert str(taken["driver"]) in part(torch, Part.DRIVER)
    cuda = planned(session, name, GoalKind.CUDA)
    assert taken["cuda"] is None or taken["cuda"] in part(cuda, Part.TOOLKIT), part(cuda, Part.TOOLKIT)


@for_each("name", sorted({str(one) for gpu in KNOWLEDGE.gpus() if (one := gpu.compute_capability)}))
def test_code_that_an_architecture_is_said_to_run_is_what_builds_are_chosen_by(name: str) -> None:
    """Of Orin too: what torch's builds for servers hold runs there from CUDA 13.2 on, and the answer says so."""
    record = architectures.answer(KNOWLEDGE, name).record
    plain: Any = record["runs_code_of"]
    plainly = [Target.parse(str(one)) for one in plain]
    later: Any = record["runs_code_of_from"]
    newer = [Target.parse(one) for of_cuda in later.values() for one in of_cuda]
    capability = ComputeCapability.parse(name)
    for build in KNOWLEDGE.torch_builds():
        if build.cuda is None or not build.targets:
            continue
        cubins = [one for one in build.targets if str(one).startswith("sm_")]
        said = set(plainly) | (set(newer) if any(str(build.cuda.release) >= cuda for cuda in later) else set())
        assert kernels_run(capability, cubins, cuda=build.cuda) == any(one in said for one in cubins), (build.newest, build.tag)
