"""Do NVIDIA's packages around a torch of pip's belong to it: those of its CUDA first, then the versions that it asks for?"""

from __future__ import annotations

from collections.abc import Iterator

from gpuassist.diagnose.case import InstalledTorch, RuleInput
from gpuassist.diagnose.torch_companions import built_for, cuda_majors, exact_pins, wheels_needed
from gpuassist.diagnose.verdicts import Verdict, finding, proof
from gpuassist.knowledge.specifier import version_in
from gpuassist.model.environment import Package
from gpuassist.model.fact import value_or
from gpuassist.model.text import listed, text, verbatim

# Newer ones than torch asks for serve it as well: they keep to their interface.
_NEWER_SERVES = ("nvidia-cudnn", "nvidia-nccl", "nvidia-cusparselt", "nvidia-nvshmem")
OF_PIP = frozenset({"pip", "uv"})


def wheels_are_of_torchs_cuda(case: RuleInput) -> Iterator[Verdict]:
    """torch loads libraries of its own CUDA's major alone, and those of another one do not take their place."""
    for one in of_pip(case):
        cuda, packages = built_for(case, one), _wheels(case, one)
        if cuda is None or not wheels_needed(case, one):
            continue
        own = [package for package, majors in packages if cuda.major in majors]
        others = [package for package, majors in packages if cuda.major not in majors]
        # NCCL alone is brought by others too, as XGBoost.
        if own or not any(not package.name.startswith("nvidia-nccl") for package in others):
            continue
        majors = sorted({majors[0] for _, majors in packages})
        version, _, tag = one.version.partition("+")
        yield finding(
            "mixed-nvidia-pip-wheels",
            proof(
                text("packages around torch"),
                one.environment.packages,
                listed(f"{package.name} {package.version}" for package in others[:4]),
            ),
            proof(text("torch in {name}", name=one.environment.name), one.torch.version),
            package=others[0].name,
            installed=others[0].version,
            majors=", ".join(map(str, majors)),
            cuda=str(cuda),
            torch=version,
            tag=tag or f"cu{cuda.major}{cuda.parts[1] if len(cuda.parts) > 1 else 0}",
            python=_python(one),
        )


def nvidia_wheels_belong_to_torch(case: RuleInput) -> Iterator[Verdict]:
    """torch's wheels ask for each library in an exact version; pip exchanges one for another package without stopping."""
    for one in of_pip(case):
        installed, pins = _installed(one), exact_pins(case, one)
        for name, pin in pins.items():
            here = installed.get(name)
            if here is not None and here.version != pin and not _serves(name, here.version, pin):
                yield finding(
                    "mixed-nvidia-pip-wheels",
                    proof(text("packages around torch"), one.environment.packages, verbatim(f"{name} {here.version}")),
                    proof(text("torch in {name}", name=one.environment.name), one.torch.version),
                    package=name,
                    installed=here.version,
                    wanted=pin,
                    torch=one.version.partition("+")[0],
                    python=_python(one),
                    seen="yes",
                )
                break


def no_other_wheel_lies_over_torchs_own(case: RuleInput) -> Iterator[Verdict]:
    """Packages of two CUDA majors share directories and the names of libraries: the one that was installed last is there."""
    for one in of_pip(case):
        pins, installed = exact_pins(case, one), _installed(one)
        for name in (name for name in pins if name in installed):
            other = next((other for other in installed.values() if _lies_over(case, other, installed[name])), None)
            if other is not None and other.name not in pins:
                yield finding(
                    "mixed-nvidia-pip-wheels",
                    proof(
                        text("packages around torch"),
                        one.environment.packages,
                        verbatim(f"{name} {installed[name].version}, {other.name} {other.version}"),
                    ),
                    proof(text("torch in {name}", name=one.environment.name), one.torch.version),
                    package=name,
                    installed=installed[name].version,
                    wanted=pins[name],
                    stray=other.name,
                    torch=one.version.partition("+")[0],
                    python=_python(one),
                    seen="yes",
                )
                break


def _lies_over(case: RuleInput, other: Package, own: Package) -> bool:
    """NCCL in two packages is told by itself, as a pair that does not go together."""
    first, second = case.knowledge.wheel(other.name), case.knowledge.wheel(own.name)
    if (
        other.name == own.name
        or "nccl" in own.name
        or first is None
        or second is None
        or not second.directory
        or first.directory != second.directory
    ):
        return False
    here, there = version_in(other.version), version_in(own.version)
    same_name = bool(set(first.libraries) & set(second.libraries))
    # cuDNN 8 and 9 differ in the names of their files.
    return same_name and not ("cudnn" in own.name and here and there and here.major != there.major)


def of_pip(case: RuleInput) -> Iterator[InstalledTorch]:
    """conda builds its own pairs, with patches and numbers of their own."""
    return (one for one in case.torches if value_or(one.torch.installer, "") in OF_PIP)


def _wheels(case: RuleInput, one: InstalledTorch) -> list[tuple[Package, tuple[int, ...]]]:
    """The parts of CUDA among the packages, with the majors that each is for."""
    told = ((package, cuda_majors(case.knowledge, package.name)) for package in _installed(one).values())
    return [(package, majors) for package, majors in told if len(majors) == 1]


def _installed(one: InstalledTorch) -> dict[str, Package]:
    return {package.name: package for package in value_or(one.environment.packages, ())}


def _serves(name: str, installed: str, pin: str) -> bool:
    here, asked = version_in(installed), version_in(pin)
    return here is None or asked is None or (name.startswith(_NEWER_SERVES) and here > asked and here.major == asked.major)


def _python(one: InstalledTorch) -> str:
    return value_or(one.environment.interpreter, "python")


RULES = (wheels_are_of_torchs_cuda, nvidia_wheels_belong_to_torch, no_other_wheel_lies_over_torchs_own)
