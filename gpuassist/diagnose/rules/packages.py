"""Is torch whole and alone in its environment, and do the packages around it belong to it?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from gpuassist.diagnose.case import InstalledTorch, RuleInput
from gpuassist.diagnose.rules import wheels
from gpuassist.diagnose.rules.shell import older
from gpuassist.diagnose.rules.wheels import OF_PIP, of_pip
from gpuassist.diagnose.torch_companions import belongs, coming, takes, wanted
from gpuassist.diagnose.verdicts import Verdict, finding, proof
from gpuassist.knowledge.companions import bad_pairs_among
from gpuassist.knowledge.records import BadPair
from gpuassist.knowledge.specifier import version_in
from gpuassist.model.environment import Manager, Package
from gpuassist.model.fact import Known, Unknown, value_or
from gpuassist.model.text import listed, text, verbatim
from gpuassist.model.version import ComputeCapability, Version

# What a pair is called where its problem has an entry of its own.
OWN_ENTRY = {"bitsandbytes-triton": "bitsandbytes-triton-mismatch"}
OF_NVIDIA = frozenset({"cusparse-nvjitlink-124", "cusparse-nvjitlink-121", "torch-old-nccl", "nccl-of-two-majors"})
# conda-forge builds torch against the NumPy that it installs with it.
_PIP_ALONE = frozenset({"torch-numpy2"})
_AMPERE = ComputeCapability(8, 0)


def torch_is_whole(case: RuleInput) -> Iterator[Verdict]:
    """A download that broke off, a full disk or a removal that stopped half way leaves files that the import misses."""
    for one in case.torches:
        damaged = value_or(one.torch.damaged, ())
        if damaged:
            yield finding(
                "torch-install-damaged",
                proof(text("files that are missing or cut off"), one.torch.damaged, listed(damaged[:4])),
                **_place(one),
                file=damaged[0],
            )


def torch_is_alone(case: RuleInput) -> Iterator[Verdict]:
    """One of ~/.local or PYTHONPATH before the environment's own, or pip's over conda's."""
    for one in case.torches:
        manager = value_or(one.environment.manager, Manager.SYSTEM)
        if manager is not Manager.SYSTEM:
            yield from _shadowed(one)
        of_conda = _packages(one).get("pytorch")
        if manager is Manager.CONDA and of_conda and of_conda.build and value_or(one.torch.installer, "") in OF_PIP:
            yield finding(
                "duplicate-torch-installs",
                proof(text("packages of conda"), one.environment.packages, verbatim(f"{of_conda.name} {of_conda.version}")),
                proof(text("torch that Python imports"), one.torch.version),
                first=one.version,
                second=f"pytorch {of_conda.version}",
                python=_place(one)["python"],
                seen="both",
            )


def _shadowed(one: InstalledTorch) -> Iterator[Verdict]:
    every = value_or(one.environment.torch, ())
    if len(every) < 2:
        return
    first, second = every[0], every[1]
    if first.path.startswith(f"{one.environment.prefix}/") or value_or(first.version, "") == value_or(second.version, ""):
        return
    yield finding(
        "duplicate-torch-installs",
        proof(text("torch that Python imports"), first.version, verbatim(f"{first.path} ({value_or(first.version, '?')})")),
        proof(text("torch of the environment"), second.version, verbatim(f"{second.path} ({value_or(second.version, '?')})")),
        first=first.path,
        second=second.path,
        python=_place(one)["python"],
        seen="before",
    )


def companions_belong_to_torch(case: RuleInput) -> Iterator[Verdict]:
    """torchvision and torchaudio are compiled for one release of torch, Triton's compiler is called by it."""
    for one in of_pip(case):
        for name, package in _packages(one).items():
            if name in {"torchvision", "torchaudio", "triton"} and not belongs(case, one, package):
                yield _no_pair(case, one, package)


def _no_pair(case: RuleInput, one: InstalledTorch, package: Package) -> Verdict:
    torch, asked, python = one.version.partition("+")[0], wanted(case, one, package.name), _place(one)["python"]
    shown = (
        proof(text("packages around torch"), one.environment.packages, verbatim(f"{package.name} {package.version}")),
        proof(text("torch in {name}", name=one.environment.name), one.torch.version),
    )
    if package.name == "triton":
        return finding(
            "triton-torch-mismatch", *shown, triton=package.version, torch=torch, wanted=asked, python=python, seen="yes"
        )
    if package.name == "torchaudio" and not asked:
        return finding("torchaudio-without-successor", *shown, torchaudio=package.version, torch=torch, python=python)
    vision = package.name == "torchvision"
    return finding(
        "torchvision-torch-mismatch",
        *shown,
        package="" if vision else package.name,
        torchvision=package.version if vision else "",
        torch=torch,
        wanted=asked if vision else "",
        tag=one.version.partition("+")[2] if "+cu" in one.version else "",
        python=python,
        seen="yes",
    )


def no_package_asks_for_another_torch(case: RuleInput) -> Iterator[Verdict]:
    """pip lets a package stand beside a torch that it does not ask for, and exchanges that torch at the next occasion."""
    for one in case.torches:
        torch = version_in(one.version)
        asking = (
            [] if torch is None else [asker for asker in value_or(one.environment.askers, ()) if not takes(asker.wanted, torch)]
        )
        # torchvision and torchaudio are told by themselves.
        asking = [asker for asker in asking if asker.package not in {"torchvision", "torchaudio"}]
        if not asking:
            continue
        first, *others = asking
        engine = case.knowledge.engine(first.package)
        yield finding(
            "torch-pinned-by-package",
            proof(
                text("packages that ask for a torch"),
                one.environment.askers,
                listed(f"{asker.package} {asker.version}: torch{asker.wanted}" for asker in asking),
            ),
            proof(text("torch in {name}", name=one.environment.name), one.torch.version),
            package=first.package,
            version=first.version,
            wanted=first.wanted.removeprefix("=="),
            torch=one.version,
            public=one.version.partition("+")[0],
            python=_place(one)["python"],
            others=", ".join(f"{asker.package} ({asker.wanted})" for asker in others),
            engine=engine.key if engine is not None else "",
            **coming(case, first.wanted),
        )


def packages_are_no_bad_pair(case: RuleInput) -> Iterator[Verdict]:
    """Pairs that are known not to work together, of two packages or of one and the GPU."""
    for one in case.torches:
        versions = {name: known for name, package in _packages(one).items() if (known := version_in(package.version))}
        torch = version_in(one.version)
        if torch is not None and versions:
            versions["torch"] = torch
            of_pip = value_or(one.torch.installer, "") in OF_PIP
            for pair in bad_pairs_among(case.knowledge.bad_pairs(), versions, case.capabilities):
                if of_pip or pair.key not in _PIP_ALONE:
                    yield _of_pair(case, one, pair, versions)


def _of_pair(case: RuleInput, one: InstalledTorch, pair: BadPair, versions: Mapping[str, Version]) -> Verdict:
    names = [party.name for party in (pair.one, pair.other) if party.name in versions]
    told = [f"{name} {versions[name]}" for name in names]
    python, shown = _place(one)["python"], proof(text("packages around torch"), one.environment.packages, listed(told))
    if pair.key in OWN_ENTRY:
        return finding(
            "bitsandbytes-triton-mismatch",
            shown,
            bitsandbytes=str(versions["bitsandbytes"]),
            triton=str(versions["triton"]),
            python=python,
            seen="yes",
        )
    if pair.key in OF_NVIDIA:
        return finding(
            "mixed-nvidia-pip-wheels", shown, package=names[-1], installed=str(versions[names[-1]]), python=python, seen="yes"
        )
    other = told[1] if len(told) > 1 else ", ".join(sorted({card.name for card in case.usable}))
    return finding("known-bad-pair", shown, pair=pair.key, one=told[0], other=other, python=python)


def cudnn_is_the_one_of_torch(case: RuleInput) -> Iterator[Verdict]:
    """cuDNN loads its parts by name as they are first used, and LD_LIBRARY_PATH is searched before its own directory."""
    for one in case.cuda_torches:
        if any(library.soname.startswith("libcudnn") and older(library) for library in value_or(one.environment.libraries, ())):
            continue  # told as what LD_LIBRARY_PATH shadows
        for package in _packages(one).values():
            own = version_in(package.version) if package.name.startswith("nvidia-cudnn-cu") else None
            if own is not None:
                yield from _older_cudnn(case, one, own)


def _older_cudnn(case: RuleInput, one: InstalledTorch, own: Version) -> Iterator[Verdict]:
    for library in value_or(case.machine.path_libraries, ()):
        found = value_or(library.version, None)
        # Only one of the same major version has the name that torch asks for.
        if found is not None and found.major == own.major and found.parts[:3] < own.parts[:3]:
            yield finding(
                "cudnn-version-mismatch",
                proof(text("cuDNN in LD_LIBRARY_PATH"), library.version),
                proof(text("packages around torch"), one.environment.packages, verbatim(f"cuDNN {own}")),
                found=str(found),
                built=str(own),
                directory=library.path.rpartition("/")[0],
                python=_place(one)["python"],
                seen="yes",
            )
            return


def project_holds_no_library(case: RuleInput) -> Iterator[Verdict]:
    """A wheel whose search path has an empty element takes libraries from wherever Python is started."""
    for one in case.torches:
        stray = value_or(one.environment.stray, ())
        if stray:
            directory, _, name = stray[0].rpartition("/")
            yield finding(
                "library-in-project-directory",
                proof(text("CUDA libraries where its wheels look first"), one.environment.stray, listed(stray[:4])),
                file=name,
                directory=directory,
                environment=one.environment.name,
            )


def flash_attention_has_a_gpu(case: RuleInput) -> Iterator[Verdict]:
    """Its kernels are for compute capability 8.0 and newer alone."""
    capabilities = [card.capability for card in case.usable]
    known = [fact.value for fact in capabilities if isinstance(fact, Known)]
    if not known or len(known) < len(capabilities) or max(known) >= _AMPERE:
        return
    for one in case.cuda_torches:
        package = _packages(one).get("flash-attn")
        if package is not None:
            yield finding(
                "flash-attention-needs-ampere",
                proof(text("packages around torch"), one.environment.packages, verbatim(f"flash-attn {package.version}")),
                proof(text("compute capability of {gpu}", gpu=case.usable[0].name), case.usable[0].capability),
                gpu=case.usable[0].name,
                capability=str(max(known)),
                seen="yes",
            )


def onnxruntime_is_one(case: RuleInput) -> Iterator[Verdict]:
    """The CPU and the GPU package write the same directory: whichever was installed last is the one that runs."""
    for one in case.torches:
        packages = _packages(one)
        if {"onnxruntime", "onnxruntime-gpu"} <= set(packages) and (case.usable or isinstance(case.machine.gpus, Unknown)):
            names = ", ".join(f"{name} {packages[name].version}" for name in ("onnxruntime", "onnxruntime-gpu"))
            yield finding(
                "onnxruntime-cpu-build",
                proof(text("packages around torch"), one.environment.packages, verbatim(names)),
                both="yes",
                python=_place(one)["python"],
            )


def conda_channel_goes_on(case: RuleInput) -> Iterator[Verdict]:
    """The channel `pytorch` ends with torch 2.5.1; its builds name Python, CUDA and cuDNN, those of conda-forge do not."""
    for one in case.torches:
        packages = _packages(one)
        package = packages.get("pytorch")
        if package is not None and package.build.startswith("py3") and ("_cuda" in package.build or "_cpu" in package.build):
            yield finding(
                "conda-channel-frozen",
                proof(text("packages of conda"), one.environment.packages, verbatim(f"pytorch {package.version} {package.build}")),
                torch=package.version,
                seen="yes",
            )


def _packages(one: InstalledTorch) -> dict[str, Package]:
    return {package.name: package for package in value_or(one.environment.packages, ())}


def _place(one: InstalledTorch) -> dict[str, str]:
    return {"environment": one.environment.name, "python": value_or(one.environment.interpreter, "python")}


RULES = (
    torch_is_whole,
    torch_is_alone,
    *wheels.RULES,
    companions_belong_to_torch,
    no_package_asks_for_another_torch,
    packages_are_no_bad_pair,
    cudnn_is_the_one_of_torch,
    project_holds_no_library,
    flash_attention_has_a_gpu,
    onnxruntime_is_one,
    conda_channel_goes_on,
)
