"""Why a stage of a GPU's set-up stands as it does, in sentences about this machine."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from gpuassist.diagnose.case import RuleInput
from gpuassist.install.configuration import home_of
from gpuassist.model.fact import Fact, Unknown
from gpuassist.model.machine import Machine
from gpuassist.model.text import Text, enumerated, text, verbatim
from gpuassist.model.version import Version
from gpuassist.session.setup_values import SetupProof, SetupStageId

NOTHING = verbatim("")
TITLES: dict[SetupStageId, Text] = {
    SetupStageId.DRIVER: text("Driver"),
    SetupStageId.RESTART: text("Restart"),
    SetupStageId.TOOLKIT: text("Toolkit"),
    SetupStageId.TORCH: verbatim("torch"),
    SetupStageId.VERIFY: text("Verify"),
    SetupStageId.LIVE: text("Live memory"),
}


def gpus(case: RuleInput) -> Text:
    """What the GPUs are called: `RTX 5090`, `2 × RTX 4090 and GTX 1080 Ti`."""
    names = Counter(card.name for card in case.cards)
    return enumerated(f"{count} × {name}" if count > 1 else name for name, count in names.items())


def short(path: str, machine: Machine) -> str:
    """A path as people write it: below their home from the tilde on."""
    home = home_of(machine)
    return f"~{path[len(home) :]}" if home and path.startswith(f"{home}/") else path


# The driver.


def driver_serves(case: RuleInput, version: str, names: Text) -> Text:
    if case.wsl:
        return text("Windows' driver {version} serves {gpus}", version=version, gpus=names)
    if case.container:
        return text("The host's driver {version} serves {gpus}", version=version, gpus=names)
    if case.jetson:
        return text("The board's own driver {version} serves {gpus}", version=version, gpus=names)
    return text("Driver {version} serves {gpus}", version=version, gpus=names)


def driver_not_judged(version: str, names: Text) -> Text:
    if not version:
        return text("A driver is there; its version is not known")
    return text("Driver {version} is loaded; whether it serves {gpus} is not known", version=version, gpus=names)


def driver_unknown(driver: Fact[Version]) -> Text:
    if isinstance(driver, Unknown):
        return text("Whether a driver runs is not known: {reason}", reason=driver.reason)
    return text("The driver does not serve every GPU")


def gpus_unread(reason: Text) -> Text:
    return text("The GPUs could not be read: {reason}", reason=reason)


def installed(version: str, names: Text) -> Text:
    if not version:
        return text("The driver for {gpus} is installed, and the restart loads it", gpus=names)
    return text("{version} is installed for {gpus}, and the restart loads it", version=version, gpus=names)


def newer_is_installed(version: str, running: str) -> Text:
    return text("{version} is installed; {running} runs until the restart", version=version, running=running)


def or_from_an_image(does: Text, provider: str) -> Text:
    return text(
        "{does}; or make a new machine from an image of {provider} that brings a driver along", does=does, provider=provider
    )


def restart_did_not_help(why: Text) -> Text:
    return text("The restart did not help: {why}", why=why)


# The restart.


def restart_loads(version: str, names: Text) -> Text:
    if not version:
        return text("Restart to load the driver")
    return text("{version} serves {gpus}; restart to load it", version=version, gpus=names)


def enroll_at_restart() -> Text:
    return text(
        "Have the computer's own keyboard and screen at hand: in the blue screen choose Enroll MOK, Continue, Yes, and type the "
        "password"
    )


def restarted(version: str) -> Text:
    return text("Driver {version} was loaded by the restart", version=version)


def no_restart(case: RuleInput, version: str) -> Text:
    if case.wsl or case.container:
        return takes_no_restart(case)
    return text("Driver {version} is loaded already", version=version) if version else text("A driver is loaded already")


def takes_no_restart(case: RuleInput) -> Text:
    if case.wsl:
        return text("The driver is Windows': a restart of this system loads none")
    if case.container:
        return text("The driver is the host's: a restart of this container loads none")
    return text("What stands in the way takes no restart")


def restart_not_known() -> Text:
    return text("Whether a restart is needed is known once the GPUs are")


def restart_after_that() -> Text:
    return text("It loads the driver")


# The toolkit.


def toolkit_not_needed() -> Text:
    return text("torch brings the CUDA that it runs on; a toolkit is only for compiling")


def toolkit_builds(version: str, case: RuleInput) -> Text:
    if not case.cards:
        return text("nvcc {version} is there", version=version)
    names = gpus(case)
    return text("nvcc {version} builds for {gpus}", version=version, gpus=names)


def toolkit_wanted(project: str) -> Text:
    if project:
        return text("The project in {path} compiles for the GPU, and new terminals find no nvcc", path=project)
    return text("You want to compile, and new terminals find no nvcc")


def nvcc_not_known(reason: Text) -> Text:
    return text("Which nvcc new terminals find is not known: {reason}", reason=reason)


def nvcc_without_version(reason: Text) -> Text:
    return text("Whether nvcc works is not known: {reason}", reason=reason)


# torch.


def no_torch() -> Text:
    return text("No environment has torch")


def torch_planned(version: str, place: str) -> Text | None:
    if version and place:
        return text("Install torch {version} in a new environment, {place}", version=version, place=place)
    return text("Install torch {version}", version=version) if version else None


def environments_unread(reason: Text) -> Text:
    return text("The Python environments could not be read: {reason}", reason=reason)


def torch_runs(version: str, place: str, names: Text) -> Text:
    return text("torch {version} in {place} runs on {gpus}", version=version, place=place, gpus=names)


def torch_is_there(version: str, place: str) -> Text:
    return text("torch {version} is in {place}", version=version, place=place)


def torch_lacks_code(version: str, place: str) -> Text:
    return text("torch {version} in {place} has no code for every GPU", version=version, place=place)


def torch_not_judged(version: str, place: str) -> Text:
    return text("Verify shows whether torch {version} in {place} runs on every GPU", version=version, place=place)


def torch_does_not_fit(version: str, place: str, reason: Text) -> Text:
    return text("torch {version} in {place}: {reason}", version=version, place=place, reason=reason)


# The proof, and what is watched.


def not_verified() -> Text:
    return text("Nothing was computed yet with this driver and this torch")


def recorded_not_verified() -> Text:
    return text("Nothing runs on a recorded machine")


def recorded_not_watched() -> Text:
    return text("Nothing can be watched on a recorded machine")


RECORDED = (recorded_not_verified(), recorded_not_watched())
"""Why a stage is none of a recorded machine's."""


def verification_failed(at: str, names: Sequence[str]) -> Text:
    return text("The verification of {day} failed on {gpus}", day=at[:10], gpus=enumerated(names))


def not_verified_whole(at: str, names: Sequence[str]) -> Text:
    return text("The verification of {day} was not complete on {gpus}", day=at[:10], gpus=enumerated(names))


def verified(at: str, names: Text) -> Text:
    return text("{gpus} passed on {day}, with this driver and this torch", gpus=names, day=at[:10])


def not_all_verified(names: Sequence[str]) -> Text:
    return text("Not verified yet: {gpus}", gpus=enumerated(names))


def verified_before(proof: SetupProof) -> Text:
    return text(
        "Verified on {day} with driver {driver} and torch {torch}, which have changed since",
        day=proof.earlier_at[:10],
        driver=proof.earlier_driver or "?",
        torch=proof.earlier_torch or "?",
    )


def watch_it() -> Text:
    return text("Watch what your programs use of the GPU while they run")


def watched(at: str) -> Text:
    return text("Seen on {day}", day=at[:10])


# Coming back.


def back(version: str, next_stage: Text) -> Text:
    return text("After the restart driver {version} is loaded. Next: {stage}", version=version, stage=next_stage)


def back_in_vain() -> Text:
    return text("After the restart the driver does not run the GPU yet")
