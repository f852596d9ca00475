"""Looking at a step before it runs: its tools are asked what they would do, and that is held against the machine."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from msgspec import Struct

from gpuassist.context import Session
from gpuassist.diagnose.case import RuleInput
from gpuassist.formats.conda_build import read_build
from gpuassist.formats.package_settings import tag_of
from gpuassist.formats.requirement import AskedPackage, asked, marker_environment, names_asked
from gpuassist.formats.torch_version import BuildOrigin, read_torch_version
from gpuassist.install.dry_run_process import Conditions, DryRunView, look
from gpuassist.knowledge.compatibility import kernels_run
from gpuassist.knowledge.conda import builds
from gpuassist.knowledge.records import TorchBuild
from gpuassist.knowledge.specifier import admits
from gpuassist.knowledge.tables import Knowledge
from gpuassist.model.environment import Accelerator
from gpuassist.model.fact import Known, Unknown, value_or
from gpuassist.model.machine import Machine
from gpuassist.model.plan import Proves, Step, Tool
from gpuassist.model.solve import DryRun, PackageChange, Requirer, Solve
from gpuassist.model.text import Text, text
from gpuassist.model.version import Target, Version, VersionError


def look_before(
    session: Session,
    machine: Machine,
    step: Step,
    *,
    earlier: tuple[Step, ...] = (),
    directory: str = "",
    cancelled: Callable[[], bool] | None = None,
) -> DryRun:
    """What the step would do to its environment; a step that changes none has nothing to look at. `earlier` are the steps before it
    that are not done yet: what they make and take out is taken as done. `directory` is where its programs run, else at home.
    """
    if step.run is None:
        return DryRun(Known(Solve(Tool.PIP), ""))
    done = tuple(one.run for one in earlier if one.run is not None)
    seen = look(session, machine, step.run, Conditions(directory or session.world.surroundings.home, done, cancelled))
    if isinstance(seen, Text):
        return DryRun(Unknown(seen), stops=(seen,))
    judged = judge(session.knowledge, machine, step, seen)
    solve = Known(Solve(step.run.tool, seen.changes), "; ".join(seen.sources))
    return DryRun(solve, judged.requires, judged.stops, judged.warnings)


# What speaks against a step that was looked at: a build that does not serve the GPUs, packages that would not work any more.


_BUILT_WITH = ("torchvision", "torchaudio")  # whose wheels carry the same tag as the torch that they fit
_BUILT_FOR_ONE = ("flash-attn",)


class PreviewFindings(Struct, frozen=True):
    """What was found of a step that was looked at."""

    requires: tuple[Requirer, ...]
    stops: tuple[Text, ...]
    warnings: tuple[Text, ...]


def judge(knowledge: Knowledge, machine: Machine, step: Step, seen: DryRunView) -> PreviewFindings:
    """Holds what a step would do against the machine's GPUs and against the packages of the environment."""
    torch = solved_torch(knowledge, machine, seen)
    asks = _asked(machine, seen)
    broken = tuple(_broken(seen, asks))
    stops, warnings = list[Text](), list[Text]()
    if torch is not None and (torch.changes or (step.proof is not None and step.proof.proves is Proves.TORCH)):
        stops += _unfit(knowledge, machine, step, (torch, asks))
        stops += _strangers(knowledge, seen, torch, {one.package for one in asks.after if one.name == "torch" and not one.met})
        warnings += _unsure(machine, step, torch)
    (stops if seen.installs else warnings).extend(broken)
    warnings += (text("{package} was withdrawn by its makers", package=one) for one in seen.yanked)
    warnings += (text("nobody can tell what this does before it runs: {program}", program=one) for one in seen.blind)
    warnings += _built_for_another(seen)
    # The packages that are there and ask for torch.
    then = {(one.package, one.wanted): one.met for one in asks.after if one.name == "torch"}
    requirers: list[Requirer] = [
        Requirer(one.package, one.version, one.wanted, one.met, then.get((one.package, one.wanted), one.met))
        for one in asks.before
        if one.name == "torch" and one.package in seen.after
    ]
    return PreviewFindings(tuple(requirers), tuple(dict.fromkeys(stops)), tuple(dict.fromkeys(warnings)))


class _Asks(Struct, frozen=True):
    """What packages ask of each other, now and then."""

    before: tuple[AskedPackage, ...] = ()
    after: tuple[AskedPackage, ...] = ()


def _asked(machine: Machine, seen: DryRunView) -> _Asks:
    if seen.python is None:
        return _Asks()
    environment = marker_environment(seen.python, value_or(machine.host.architecture, "x86_64"))
    moved = {one for one in {*seen.before, *seen.after} if seen.before.get(one) != seen.after.get(one)}
    about = {*moved, "torch"}
    return _Asks(
        tuple(asked(seen.before, environment, about=about)),
        tuple(asked(seen.after, environment, about=about)),
    )


def _unfit(knowledge: Knowledge, machine: Machine, step: Step, found: tuple[SolvedTorch, _Asks]) -> Iterator[Text]:
    """Why a torch does not serve the GPUs; a build for the processor alone may be what the step wants."""
    torch, asks = found
    case = RuleInput(machine, knowledge)
    wanted = step.proof.wanted if step.proof else ""
    if torch.accelerator is Accelerator.CPU:
        if not wanted.endswith("+cpu") and (case.cards or "+cu" in wanted):
            yield _for_the_processor(torch, asks)
        return
    if torch.accelerator in {Accelerator.ROCM, Accelerator.XPU}:
        if case.cards:
            yield text("torch would come as {version}, a build for the GPUs of another maker", version=_named(torch))
        return
    for card in case.cards:
        capability = card.capability
        if isinstance(capability, Known) and torch.targets and not kernels_run(capability.value, torch.targets, cuda=torch.cuda):
            yield text(
                "torch {version} holds no code that runs on {gpu} (compute capability {capability})",
                version=_named(torch),
                gpu=card.name,
                capability=str(capability.value),
            )


def _for_the_processor(torch: SolvedTorch, asks: _Asks) -> Text:
    pins = [one for one in asks.after if one.name == "torch" and one.met and ("=" in one.wanted or "<" in one.wanted)]
    version, source = _named(torch), torch.source
    if not torch.changes:
        return text("torch would stay as it is, {version}, a build for the processor alone", version=version)
    if pins:
        return text(
            "torch would come as {version}, a build for the processor alone: {package} {release} asks for {wanted}",
            version=version,
            package=pins[0].package,
            release=pins[0].version,
            wanted=pins[0].wanted,
        )
    if source:
        return text("torch would come as {version}, a build for the processor alone, from {source}", version=version, source=source)
    return text("torch would come as {version}, a build for the processor alone", version=version)


def _named(torch: SolvedTorch) -> str:
    return torch.version if "+" in torch.version or not torch.tag else f"{torch.version} ({torch.tag})"


def _unsure(machine: Machine, step: Step, torch: SolvedTorch) -> Iterator[Text]:
    wanted = step.proof.wanted if step.proof else ""
    release, _, tag = wanted.partition("+")
    is_wanted = torch.version.partition("+")[0] == release and (not tag or not torch.tag or torch.tag == tag)
    if wanted and not is_wanted:
        yield text("torch would be {version}, not {wanted}, which the plan is made for", version=_named(torch), wanted=wanted)
    if torch.accelerator is None or (torch.accelerator is Accelerator.CUDA and torch.targets is None):
        gpus = value_or(machine.gpus, ())
        if gpus:
            yield text("gpuassist does not know which GPUs torch {version} was built for", version=_named(torch))


def _broken(seen: DryRunView, asks: _Asks) -> Iterator[Text]:
    """What was met and would be no more, and what would come and not be met."""
    unmet = {(one.package, one.wanted) for one in asks.before if not one.met}
    for one in asks.after:
        if one.met or (one.package, one.wanted) in unmet:
            continue
        parameters = {"package": one.package, "version": one.version, "wanted": one.wanted, "name": one.name}
        if one.has:
            yield text(
                "{package} {version} would break: it asks for {wanted}, and {name} would be {has}", **parameters, has=one.has
            )
        elif one.name in seen.before:
            yield text("{package} {version} would break: it asks for {wanted}, and {name} would be gone", **parameters)
        else:
            yield text("{package} {version} would not work: it asks for {wanted}, which would not be there", **parameters)


def _strangers(knowledge: Knowledge, seen: DryRunView, torch: SolvedTorch, told: set[str]) -> Iterator[Text]:
    """Companions that belong to another torch, which their own records do not always say."""
    try:
        number = Version.parse(torch.version)
    except VersionError:
        return
    release = knowledge.torch_release(number.release)
    for one in release.companions_of(number) if release else ():
        there = seen.after.get(one.name)
        if there is not None and one.name in _BUILT_WITH and one.name not in told and not _belongs(one.version, there.version):
            yield text(
                "{name} {version} does not belong to torch {torch}: that would be {wanted}",
                name=one.name,
                version=there.version,
                torch=torch.version,
                wanted=one.version,
            )
    for name in _BUILT_WITH:
        read = read_torch_version(seen.after[name].version) if name in seen.after else None
        if read is not None and read.tag and torch.tag and read.tag != torch.tag:
            parameters = {"name": name, "version": seen.after[name].version, "torch": _named(torch)}
            yield text("{name} {version} is built for another CUDA than torch {torch}", **parameters)


def _belongs(wanted: str, version: str) -> bool:
    try:
        return admits(wanted, Version.parse(version))
    except VersionError:
        return True


def _built_for_another(seen: DryRunView) -> Iterator[Text]:
    """What is compiled for the torch that is there, without saying so in its record."""
    torch, then = seen.before.get("torch"), seen.after.get("torch")
    if torch is None or then is None or torch.version == then.version:
        return
    for name in _BUILT_FOR_ONE:
        there = seen.after.get(name)
        if there is not None and seen.before.get(name) == there:
            yield text(
                "{name} {version} is compiled for torch {torch}: it has to be built anew",
                name=name,
                version=there.version,
                torch=torch.version,
            )


# The torch that an environment would hold: what it computes on, and the GPU code in it, as far as that is known.


_CONDA_NAMES = ("pytorch", "libtorch")
_TRITONS = frozenset({"triton", "pytorch-triton"})
_MAKERS = {"cu": Accelerator.CUDA, "cpu": Accelerator.CPU, "rocm": Accelerator.ROCM, "xpu": Accelerator.XPU}


class SolvedTorch(Struct, frozen=True):
    """`version` as it is written, `tag` its build (`cu128`, empty where that is not known), `changes` whether it is not the
    one that is there. None is not known: what it computes on, its CUDA, the GPU code in it.
    """

    version: str
    tag: str = ""
    accelerator: Accelerator | None = None
    cuda: Version | None = None
    targets: tuple[Target, ...] | None = None
    changes: bool = True
    source: str = ""


def solved_torch(knowledge: Knowledge, machine: Machine, seen: DryRunView) -> SolvedTorch | None:
    """The torch that would be there; None where none would."""
    changes = {one.name: one for one in seen.changes}
    of_conda = next((changes[name] for name in _CONDA_NAMES if name in changes and changes[name].after), None)
    if of_conda is not None and of_conda.build_after:
        build = read_build(of_conda.build_after)
        accelerator = None if build.cpu is None else Accelerator.CPU if build.cpu else Accelerator.CUDA
        version, architecture = _version(of_conda.after), value_or(machine.host.architecture, "x86_64")
        same = (
            one
            for one in (builds(knowledge.conda(), version, machine=architecture) if version else ())
            if one.cuda is not None and build.cuda is not None and one.cuda.release == build.cuda.release
        )
        targets = next((one.targets for one in same if one.channel.value in of_conda.source), None)
        return SolvedTorch(of_conda.after, "", accelerator, build.cuda, targets, source=of_conda.source)
    if "torch" not in seen.after:
        return None
    return _of_python(knowledge, machine, seen, changes.get("torch"))


def _of_python(knowledge: Knowledge, machine: Machine, seen: DryRunView, change: PackageChange | None) -> SolvedTorch:
    version = seen.after["torch"].version
    source = change.source if change else ""
    # The known builds of a release; of a nightly, of NVIDIA's own or of one that its user built none is known.
    read = read_torch_version(version)
    architecture = value_or(machine.host.architecture, "x86_64")
    every = knowledge.torch_builds(read.release.release) if read and read.origin is BuildOrigin.RELEASE else ()
    known = tuple(one for one in every if one.machine == architecture)
    # What its version says of its build, or the address that it comes from.
    tag = ((read.tag if read else "") or tag_of(source)) or _tag_by_company(machine, seen, known)
    accelerator = next((kind for start, kind in _MAKERS.items() if tag.startswith(start)), None)
    build = next((one for one in known if one.tag == tag), None)
    found = read_torch_version(f"0.0+{tag}")
    cuda = build.cuda if build else found.cuda if found else None
    return SolvedTorch(version, tag, accelerator, cuda, build.targets if build else None, change is not None, source)


def _tag_by_company(machine: Machine, seen: DryRunView, known: tuple[TorchBuild, ...]) -> str:
    """The build of a version that does not say, as PyPI's: by the parts of CUDA that come with it."""
    default = next((one.tag for one in known if one.default), "")
    asks = _asks(machine, seen)
    if asks is None:
        return default
    if not any(name.startswith(("nvidia-", "cuda-")) or name in _TRITONS for name in asks):
        # Whether the default build of this release asks for NVIDIA's wheels: those up to 1.12 held all of it themselves.
        return "cpu" if any(one.default and one.pins for one in known) else default
    runtime = next((one.version for one in seen.after.values() if one.name.startswith("nvidia-cuda-runtime")), "")
    release = _version(runtime)
    return f"cu{release.release.major}{release.release.parts[1]}" if release is not None else default


def _asks(machine: Machine, seen: DryRunView) -> frozenset[str] | None:
    """What torch asks for; of a tool that does not say, what is there with it, and None where that was told to bring nothing."""
    lines = seen.after["torch"].requires
    if not lines:
        return None if any("--no-deps" in source for source in seen.sources) else frozenset(seen.after)
    if seen.python is None:
        return None
    return names_asked(lines, marker_environment(seen.python, value_or(machine.host.architecture, "x86_64")))


def _version(words: str) -> Version | None:
    try:
        return Version.parse(words)
    except VersionError:
        return None
