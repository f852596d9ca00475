"""What torch in a container would take: an image for every GPU, and a driver on the host that runs it."""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import replace

from gpuassist.context import Session
from gpuassist.diagnose.case import RuleInput
from gpuassist.diagnose.chain import chains
from gpuassist.install import hypothetical
from gpuassist.install.configuration import configuration_of, place_of
from gpuassist.install.outlook import Question, begun, install_steps, steps_that_mend
from gpuassist.install.place import InstallPlace, step
from gpuassist.install.replacements import with_driver
from gpuassist.knowledge.change import Configuration, DriverMove, VersionChange
from gpuassist.knowledge.choice import ImageChoice, Images, choose_driver
from gpuassist.knowledge.commands import Commands, use
from gpuassist.knowledge.records import ImageRecord
from gpuassist.knowledge.smallest import driver_fits
from gpuassist.model.outlook import Method, Outlook, WayPlan
from gpuassist.model.plan import Step
from gpuassist.model.text import Text, listed, text
from gpuassist.model.version import Version

_UNIFIED = Version((7,))  # from this JetPack on the images of servers serve the boards


def foresee_container(session: Session, question: Question) -> Outlook:
    looked = begun(session, question)
    if looked.blocked_by or looked.undetermined:
        return looked
    case = RuleInput(question.base, session.knowledge)
    configuration = configuration_of(case)
    if case.container:
        return replace(looked, blocked_by=(text("this is a container itself: its image is chosen on the host"),))
    images = Images(session.knowledge.images(), session.knowledge.toolkits())
    wish = question.constraints.torch
    choice = images.choose(configuration.capabilities, _driver(configuration), torch=wish, jetpack=_jetpack(case))
    if choice.image is not None:
        return _with_image(_Chosen(session, question, choice.image), looked)
    # The driver to install where the one that is there does not do; any of its branch counts as its newest.
    if configuration.driver_fixed:
        move: DriverMove | None = None
    else:
        found = choose_driver(
            session.knowledge.branches(), configuration.gpus, today=configuration.today, one_module=configuration.one_module
        )
        move = DriverMove(Version((found.best.branch,)), found.open_module) if found.best is not None else None
    under = (
        images.choose(configuration.capabilities, Version((move.version.major, 999)), torch=wish) if move is not None else choice
    )
    if under.image is None:
        return replace(looked, blocked_by=(_why(case, choice, wish),))
    return _with_image(_Chosen(session, question, under.image, move), looked)


class _Chosen(Struct, frozen=True):
    session: Session
    question: Question
    image: ImageRecord
    move: DriverMove | None = None


def _with_image(chosen: _Chosen, looked: Outlook) -> Outlook:
    knowledge, base = chosen.session.knowledge, chosen.question.base
    case, change = RuleInput(base, knowledge), VersionChange(driver=chosen.move)
    place, configuration = place_of(case), configuration_of(case)
    mending = steps_that_mend(chosen.session, case, configuration, change)
    before = (*mending, *install_steps(change, place, knowledge))
    integrated = configuration.driver_fixed and chosen.image.jetpack is not None
    name = f"{chosen.image.name}-igpu" if integrated else chosen.image.name
    torch = chosen.image.torch or ""
    way = container_way(name, torch, place, knowledge.commands, integrated=integrated)
    way = replace(way, steps=(*before, *way.steps))
    driver = chosen.move.version if chosen.move else configuration.driver if mending else None
    machine = with_driver(knowledge, base, driver) if driver is not None else base
    after = chains(hypothetical.with_unknown_torch(machine, torch), knowledge, thorough=True)
    return replace(looked, after=after, steps=way.steps, ways=(way,))


def _driver(configuration: Configuration) -> Version | None:
    """The driver, where it serves every GPU."""
    there = configuration.driver
    return there if there is not None and driver_fits(configuration, there, open_module=configuration.open_module) else None


def _jetpack(case: RuleInput) -> Version | None:
    """The system of a Jetson that needs images of its own."""
    return case.jetpack.release if case.jetpack is not None and case.jetpack.release < _UNIFIED else None


def _why(case: RuleInput, choice: ImageChoice, wish: Version | None) -> Text:
    names = listed(dict.fromkeys(card.name for card in case.cards))
    if choice.newer is not None:
        return text(
            "{image} needs driver {needed}, and none that serves {names} is so new: wheels and conda have builds for older drivers",
            image=choice.newer.name,
            needed=str(choice.driver or ""),
            names=names,
        )
    if wish is None:
        return text("no month of NVIDIA's PyTorch image that gpuassist knows is made for {names}", names=names)
    return text("no month of NVIDIA's PyTorch image that gpuassist knows has torch {wish} for {names}", wish=str(wish), names=names)


# The steps to torch in a container: NVIDIA's image tried on the GPUs, run on a project, and as the ground of one's own image.


_NAME = "my-project"
_NEEDS = text("Docker starts it, and the NVIDIA Container Toolkit gives it the GPUs: both have to be installed on this computer")
_KEEP = text(
    "in the container `pip install torch` would put a wheel in the place of the image's own torch: leave torch out of what you "
    "install there"
)


def container_way(image: str, torch: str, place: InstallPlace, commands: Commands, *, integrated: bool = False) -> WayPlan:
    """The steps, none of which touches an environment of the host; an `integrated` image is for Jetson."""
    suffix = "-jetson" if integrated else ""
    key = f"docker-run{suffix}"
    does = text("Work in it, in the directory of your project, which it shows under /workspace/project")
    own = text("For an image of your own: a Dockerfile of three lines in the directory of your project, and the image made from it")
    steps = (
        _try(image, f"docker-check{suffix}", place, commands),
        step((use(key, image=image),), place, commands, (does, None)),
        step((use("docker-image", image=image, name=_NAME),), place, commands, (own, None)),
    )
    does = text("In a container of {image}, whose torch is {torch}", image=image, torch=torch)
    return WayPlan(Method.CONTAINER, does, steps, (_NEEDS, _KEEP))


def _try(image: str, key: str, place: InstallPlace, commands: Commands) -> Step:
    does = text("Fetch the image, several gigabytes, and let its torch compute on a GPU")
    check = text("it prints the GPU's name and a tensor; where it does not find the GPU, the NVIDIA Container Toolkit is missing")
    return step((use(key, image=image),), place, commands, (does, check))
