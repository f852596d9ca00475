"""Can the nvcc that a new terminal finds build for every GPU, with this host compiler, C library and torch?

All of it matters to those who compile; a CUDA torch needs no nvcc, so a missing one is no problem.
"""

from __future__ import annotations

from collections.abc import Iterator

from gpuassist.diagnose.case import KnownGpu, RuleInput
from gpuassist.diagnose.verdicts import Verdict, finding, listed, proof, undetermined
from gpuassist.knowledge.choice import InstalledToolkit, Workload, choose_driver, choose_installed_toolkit, choose_toolkit_release
from gpuassist.knowledge.compatibility import (
    ToolkitMatch,
    driver_compiles_ptx,
    extension_buildable,
    first_toolkit_for,
    gcc_fits,
    glibc_clashes,
    last_toolkit_for,
    nearest_target,
    toolkit_builds_for,
)
from gpuassist.model.fact import Fact, Known, Unknown, value_or
from gpuassist.model.finding import Evidence, Finding, Passed
from gpuassist.model.text import text, verbatim
from gpuassist.model.toolkit import Origin, Toolkit
from gpuassist.model.version import Code, ComputeCapability, Target, Version

_IN_PART = Unknown(text("the text tells only a part of it"))
_STRANGE = Unknown(text("it is part of no toolkit that was found"))


def nvcc_is_found(case: RuleInput) -> Iterator[Verdict]:
    """A toolkit that is installed should be found by new terminals."""
    terminal = case.terminal
    if isinstance(case.machine.toolkits, Unknown) and case.nvcc is None:
        yield from undetermined("nvcc-not-on-path", text("the installed CUDA toolkits"), case.machine.toolkits)
        return
    if not for_everybody(case):
        return
    if isinstance(terminal, Unknown):
        yield from undetermined("nvcc-not-on-path", text("what a new terminal finds"), terminal)
    elif case.nvcc is None and not terminal.value.lacks("nvcc"):
        yield from undetermined("nvcc-not-on-path", text("what a new terminal finds"), _IN_PART)
    elif case.nvcc is None:
        best = best_installed(case) or _newest(case)
        yield finding(
            "nvcc-not-on-path",
            proof(text("nvcc in a new terminal"), terminal, text("none on PATH")),
            *(_installed_proof(one) for one in for_everybody(case)),
            version=str(best.version.release) if best else "",
            root=best.root if best else for_everybody(case)[0].root,
            torch_runs="yes" if torch_runs(case) else "",
        )
    else:
        yield Passed(text("nvcc on PATH"))


def nvcc_knows_gpus(case: RuleInput) -> Iterator[Verdict]:
    """Each GPU's architecture must be one that this nvcc lists: not newer than its newest, not dropped."""
    if case.nvcc is None or not case.usable:
        return
    toolkit = case.toolkit
    targets = _targets(case, toolkit) if toolkit is not None else ()
    if toolkit is None or not targets:
        label = text("the architectures that {nvcc} builds for", nvcc=case.nvcc.path)
        told = (case.machine.toolkits, toolkit.targets) if toolkit is not None else (case.machine.toolkits,)
        yield from undetermined("nvcc-arch-too-new", label, *told, _STRANGE)
        return
    unknown = [card for card in case.usable if isinstance(card.capability, Unknown)]
    outside = [card for card in case.usable if _is_outside(card, targets)]
    for card in unknown:
        yield from undetermined("nvcc-arch-too-new", text("the compute capability of {gpu}", gpu=card.name), card.capability)
    for name, capability in dict.fromkeys((card.name, card.capability) for card in outside):  # cards of a kind are told of once
        yield _outside(case, toolkit, name, capability)
    if not outside and not unknown:
        yield Passed(text("nvcc builds for this GPU"))


def right_toolkit_wins(case: RuleInput) -> Iterator[Verdict]:
    """Of several toolkits that could build, the one that fits torch should be the one on PATH."""
    toolkit = case.toolkit
    if toolkit is None or len(for_everybody(case)) < 2 or not isinstance(toolkit.version, Known) or _is_blamed(case, toolkit):
        return
    best = best_installed(case)
    if best is None or best.root == toolkit.root:
        return
    cuda = torch_cuda(case)
    for_torch = isinstance(cuda, Known) and extension_buildable(cuda.value, best.version) is not ToolkitMatch.MAJOR_DIFFERS
    against_torch = isinstance(cuda, Known) and extension_buildable(cuda.value, toolkit.version.value) is ToolkitMatch.MAJOR_DIFFERS
    shadows = value_or(toolkit.origin, Origin.LOCAL) is Origin.PACKAGE and best.version > toolkit.version.value
    if (for_torch and against_torch) or shadows:
        yield finding(
            "path-order-wrong-nvcc",
            _nvcc_proof(case, toolkit),
            *(_installed_proof(one) for one in case.toolkits if one.root != toolkit.root),
            proof(text("CUDA of torch"), cuda) if for_torch and against_torch else None,
            nvcc=str(toolkit.version.value.release),
            root=toolkit.root,
            better=str(best.version.release),
            better_root=best.root,
            torch_cuda=str(cuda.value) if isinstance(cuda, Known) and for_torch and against_torch else "",
            distribution="yes" if value_or(toolkit.origin, Origin.LOCAL) is Origin.PACKAGE else "",
        )


def driver_serves_nvcc(case: RuleInput) -> Iterator[Verdict]:
    """Of a newer major nothing that nvcc builds starts under the driver (35); within one, what the driver has to compile (222)."""
    toolkit, driver = case.toolkit, case.serving
    if toolkit is None or not isinstance(toolkit.version, Known) or isinstance(driver, Unknown) or not case.usable:
        return
    release, own = toolkit.version.value.release, _driver_cuda(case, driver.value)
    across = not case.serves(release)
    if own is None or (not across and driver_compiles_ptx(own, release)):
        return
    # Another toolkit is asked for already, by the GPU or by torch.
    if _is_blamed(case, toolkit) or any(isinstance(one, Finding) for one in right_toolkit_wins(case)):
        return
    fitting = [one for one in _installed(case) if case.serves(one.version) and driver_compiles_ptx(own, one.version)]
    older = choose_installed_toolkit(fitting, _workload(case))
    branches = [one for one in case.knowledge.branches() if one.cuda is not None and driver_compiles_ptx(one.cuda, release)]
    better = choose_driver(branches, case.wishes, today=case.machine.taken_at[:10], one_module=not case.without_flavours).best
    yield finding(
        "toolkit-newer-than-driver",
        _nvcc_proof(case, toolkit),
        proof(text("driver"), case.driver),
        proof(text("CUDA of the driver"), case.machine.driver.cuda_version),
        nvcc=str(release),
        driver=str(value_or(case.driver, "")),
        served=str(own),
        minor="" if across else "yes",
        older=str(older.version.release) if older else "",
        branch=str(better.branch) if better and not case.jetson and not case.virtual else "",
    )


def cuda_home_agrees(case: RuleInput) -> Iterator[Verdict]:
    """torch's extension builder follows CUDA_HOME, cmake and make follow PATH: they should lead to one toolkit."""
    for name in ("CUDA_HOME", "CUDA_PATH"):
        value = case.variable(name)
        if not value or (name == "CUDA_PATH" and case.variable("CUDA_HOME")):
            continue
        home, toolkit = case.toolkit_at(value), case.toolkit
        in_part = isinstance(case.terminal, Known) and not case.terminal.value.whole and home is None
        if isinstance(case.machine.toolkits, Unknown) or in_part:
            label = text("the toolkit that {name} leads to", name=name)
            yield from undetermined("cuda-home-disagrees", label, case.machine.toolkits, _IN_PART)
        elif home is None or (toolkit is not None and home.root != toolkit.root):
            best = best_installed(case) or _newest(case)
            yield finding(
                "cuda-home-disagrees",
                proof(verbatim(name), case.terminal, verbatim(value)),
                _nvcc_proof(case, toolkit) if toolkit else None,
                variable=name,
                value=value,
                missing="" if home else "yes",
                nvcc=str(value_or(toolkit.version, Version(())).release) if toolkit else "",
                root=toolkit.root if toolkit else "",
                version=str(best.version.release) if best else "",
            )
        elif toolkit is not None:
            yield Passed(verbatim(name))


def host_compiler_fits(case: RuleInput) -> Iterator[Verdict]:
    """nvcc refuses a gcc whose major is newer than its own header allows, unless it is told another compiler."""
    toolkit, gcc = case.toolkit, case.gcc
    told = [name for name in ("NVCC_CCBIN", "CUDAHOSTCXX", "NVCC_PREPEND_FLAGS", "NVCC_APPEND_FLAGS") if case.variable(name)]
    if toolkit is None or told:
        return
    if gcc is None:
        yield from undetermined("nvcc-host-gcc-too-new", text("the host compilers"), case.machine.compilers)
        return
    known = case.known(toolkit)
    limit = known.gcc_limit if known is not None else value_or(toolkit.gcc_limit, 0)
    if not limit or isinstance(gcc.version, Unknown):
        label = text("the newest gcc that {root} accepts, and the version of {gcc}", root=toolkit.root, gcc=gcc.path)
        yield from undetermined("nvcc-host-gcc-too-new", label, toolkit.gcc_limit, gcc.version)
        return
    if gcc_fits(limit, gcc.version.value):
        yield Passed(text("host compiler"))
        return
    yield finding(
        "nvcc-host-gcc-too-new",
        proof(text("{family} in a new terminal", family=gcc.family), gcc.version),
        proof(text("newest gcc that this nvcc accepts"), toolkit.gcc_limit, verbatim(str(limit))),
        _nvcc_proof(case, toolkit),
        gcc=str(gcc.version.value),
        limit=str(limit),
        nvcc=str(value_or(toolkit.version, Version(())).release),
        clash="yes" if any(isinstance(one, Finding) for one in c_library_fits(case)) else "",
    )


def c_library_fits(case: RuleInput) -> Iterator[Verdict]:
    """Some C libraries clash with some toolkits' headers, whichever gcc compiles."""
    toolkit, glibc = case.toolkit, case.machine.host.glibc
    if toolkit is None:
        return
    if isinstance(toolkit.version, Unknown):
        yield from undetermined(
            "nvcc-glibc-too-new", text("the version of the toolkit at {root}", root=toolkit.root), toolkit.version
        )
        return
    record = case.knowledge.toolkit(toolkit.version.value)
    if isinstance(glibc, Unknown):
        if record is not None and record.glibc_clash is not None:
            yield from undetermined("nvcc-glibc-too-new", text("the version of the C library"), glibc)
    elif record is not None and glibc_clashes(record.glibc_clash, glibc.value):
        yield finding(
            "nvcc-glibc-too-new",
            proof(text("C library (glibc)"), glibc),
            _nvcc_proof(case, toolkit),
            glibc=str(glibc.value),
            nvcc=str(record.release),
            clash=str(record.glibc_clash),
            first=str(_to_install(case) or ""),
        )


def toolkit_fits_torch(case: RuleInput) -> Iterator[Verdict]:
    """Extensions are built with the CUDA major that torch was built with."""
    toolkit, cuda = case.toolkit, torch_cuda(case)
    if toolkit is None or isinstance(cuda, Unknown) or not isinstance(toolkit.version, Known) or _is_blamed(case, toolkit):
        return
    if extension_buildable(cuda.value, toolkit.version.value) is not ToolkitMatch.MAJOR_DIFFERS:
        yield Passed(text("toolkit fits torch"))
        return
    others = [one for one in case.toolkits if isinstance(one.version, Known) and one.version.value.major == cuda.value.major]
    if not others:
        one = case.cuda_torches[0]
        yield finding(
            "torch-cuda-vs-toolkit-mismatch",
            proof(text("CUDA of torch in {name}", name=one.environment.name), cuda),
            _nvcc_proof(case, toolkit),
            torch=one.version,
            environment=one.environment.name,
            torch_cuda=str(cuda.value),
            nvcc=str(toolkit.version.value.release),
            install=str(_to_install(case, cuda.value) or ""),
        )


def _driver_cuda(case: RuleInput, driver: Version) -> Version | None:
    """The CUDA that the driver reports, or that its branch is made for."""
    told, branch = case.machine.driver.cuda_version, case.knowledge.branch(driver.major)
    if isinstance(told, Known) and case.after_restart is None:
        return told.value.release
    return branch.cuda if branch is not None else None


def best_installed(case: RuleInput) -> InstalledToolkit | None:
    """The installed toolkit that serves every usable GPU and the host compiler, and whose programs the driver runs, where that is
    known: nearest to torch's CUDA, as the plan chooses it.
    """
    known = isinstance(case.serving, Known)
    return choose_installed_toolkit([one for one in _installed(case) if not known or case.serves(one.version)], _workload(case))


def torch_cuda(case: RuleInput) -> Fact[Version]:
    """The CUDA of the torch that matters first."""
    return next((one.torch.cuda for one in case.cuda_torches), Unknown(text("there is no CUDA torch"), asked=False))


def torch_runs(case: RuleInput) -> bool:
    """Whether some CUDA torch has code for every usable GPU."""
    chips = case.capabilities
    return bool(chips) and any(all(one.runs_on(chip) for chip in chips) for one in case.cuda_torches)


def _installed(case: RuleInput) -> list[InstalledToolkit]:
    return [known for known in map(case.known, for_everybody(case)) if known is not None]


def for_everybody(case: RuleInput) -> tuple[Toolkit, ...]:
    """The toolkits that are no part of a Python environment: those are on PATH only where it is active, and rightly so."""
    return tuple(one for one in case.toolkits if value_or(one.origin, Origin.LOCAL) not in {Origin.CONDA, Origin.WHEEL})


def _targets(case: RuleInput, toolkit: Toolkit) -> tuple[Target, ...]:
    """What its nvcc lists; where that was not to be had, what is known of its release."""
    known = case.known(toolkit)
    return known.targets if known is not None else value_or(toolkit.targets, ())


def _newest(case: RuleInput) -> InstalledToolkit | None:
    return max(_installed(case), key=lambda one: one.version, default=None)


def _workload(case: RuleInput, cuda: Version | None = None) -> Workload:
    found = torch_cuda(case)
    glibc, driver = case.machine.host.glibc, case.serving
    branch = case.knowledge.branch(driver.value.major) if isinstance(driver, Known) else None
    return Workload(
        case.capabilities,
        gcc=value_or(case.gcc.version, None) if case.gcc is not None else None,
        glibc=value_or(glibc, None),
        torch_cuda=cuda or (found.value if isinstance(found, Known) else None),
        driver_cuda=branch.cuda if branch is not None else None,
    )


def _to_install(case: RuleInput, cuda: Version | None = None) -> Version | None:
    return choose_toolkit_release(case.knowledge.toolkits(), _workload(case, cuda))


def _alternative(case: RuleInput) -> str:
    """The version of an installed toolkit that has none of the faults, empty where there is none: the one that the plan switches
    to, which is none of another major than torch's.
    """
    best, cuda = best_installed(case), torch_cuda(case)
    if best is None or (case.toolkit is not None and best.root == case.toolkit.root):
        return ""
    for_torch = isinstance(cuda, Unknown) or extension_buildable(cuda.value, best.version) is not ToolkitMatch.MAJOR_DIFFERS
    return str(best.version.release) if for_torch else ""


def _is_outside(card: KnownGpu, targets: tuple[Target, ...]) -> bool:
    return isinstance(card.capability, Known) and bool(targets) and not toolkit_builds_for(targets, card.capability.value)


def _is_blamed(case: RuleInput, toolkit: Toolkit) -> bool:
    """Whether the toolkit on PATH has a finding of its own already, so that others would only repeat it."""
    targets = _targets(case, toolkit)
    return any(_is_outside(card, targets) for card in case.usable)


def _outside(case: RuleInput, toolkit: Toolkit, name: str, told: Fact[ComputeCapability]) -> Verdict:
    capability = value_or(told, ComputeCapability(0, 0))
    listed_by = sorted(target.capability for target in _targets(case, toolkit))
    too_new = capability > listed_by[0]
    every = case.knowledge.toolkits()
    nearest = nearest_target(_targets(case, toolkit), capability)
    edge = first_toolkit_for(capability, every) if too_new else last_toolkit_for(capability, every)
    return finding(
        "nvcc-arch-too-new" if too_new else "nvcc-arch-dropped",
        proof(text("compute capability of {gpu}", gpu=name), told),
        _nvcc_proof(case, toolkit),
        proof(
            text("architectures that it builds for"),
            toolkit.targets,
            text("{low} to {high}", low=str(listed_by[0]), high=str(listed_by[-1])),
        ),
        *(_installed_proof(one) for one in case.toolkits if one.root != toolkit.root),
        gpu=name,
        capability=str(capability),
        architecture=f"{capability.major}{capability.minor}",
        nvcc=str(value_or(toolkit.version, Version(())).release),
        root=toolkit.root,
        newest=str(listed_by[-1]),
        nearest=str(nearest.capability) if nearest else "",
        native="yes" if nearest and nearest.code is Code.CUBIN else "",
        oldest=str(listed_by[0]),
        edge=str(edge or ""),
        alternative=_alternative(case),
        install=str(_to_install(case) or edge or ""),
    )


def _nvcc_proof(case: RuleInput, toolkit: Toolkit) -> Evidence:
    path = case.nvcc.path if case.nvcc else toolkit.root
    version = value_or(toolkit.nvcc_version, value_or(toolkit.version, Version(())))
    why_first = [case.terminal.source] if isinstance(case.terminal, Known) else []
    return Evidence(text("nvcc in a new terminal"), verbatim(str(version)), listed([path, *why_first]))


def _installed_proof(toolkit: Toolkit) -> Evidence:
    return Evidence(text("also installed"), verbatim(str(value_or(toolkit.version, Version(())))), toolkit.root)


RULES = (
    nvcc_is_found,
    nvcc_knows_gpus,
    right_toolkit_wins,
    driver_serves_nvcc,
    cuda_home_agrees,
    c_library_fits,
    host_compiler_fits,
    toolkit_fits_torch,
)
