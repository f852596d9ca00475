"""What torch in a container would take: an image for every GPU, and a driver on the host that runs it."""

from __future__ import annotations

from dataclasses import dataclass, replace

from gpuassist.context import Session
from gpuassist.diagnose.case import Case
from gpuassist.diagnose.chain import chains
from gpuassist.install import hypothetical
from gpuassist.install.container import container_way
from gpuassist.install.outlook import Question, begun, place_of, rig_of, steps_that_mend
from gpuassist.install.replacements import with_driver
from gpuassist.install.steps import install_steps
from gpuassist.knowledge.change import Change, DriverMove, Rig
from gpuassist.knowledge.choosing import choose_driver
from gpuassist.knowledge.choosing_image import ImageChoice, Images
from gpuassist.knowledge.compatibility import is_jetson
from gpuassist.knowledge.image_records import ImageRecord
from gpuassist.knowledge.smallest import driver_fits
from gpuassist.model.outlook import Outlook
from gpuassist.model.text import Text, text
from gpuassist.model.version import Version

_JETPACKS = {540: Version((6,)), 535: Version((6,))}  # the driver of a JetPack (L4T 36): 535 of its preview, 540 of its releases


def foresee_container(session: Session, question: Question) -> Outlook:
    """The outlook on torch in NVIDIA's image."""
    looked = begun(session, question)
    if looked.blocked_by or looked.undetermined:
        return looked
    case = Case(question.base, session.knowledge)
    rig = rig_of(case)
    if case.container:
        return replace(looked, blocked_by=(text("this is a container itself: its image is chosen on the host"),))
    images = Images(session.knowledge.images(), session.knowledge.toolkits())
    wish = question.demand.torch
    choice = images.choose(rig.capabilities, _driver(rig), torch=wish, jetpack=_jetpack(rig))
    if choice.image is not None:
        return _with_image(_Chosen(session, question, choice.image), looked)
    # The driver to install where the one that is there does not do; any of its branch counts as its newest.
    if rig.driver_fixed:
        move: DriverMove | None = None
    else:
        found = choose_driver(session.knowledge.branches(), rig.gpus, today=rig.today, one_module=rig.one_module)
        move = DriverMove(Version((found.best.branch,)), found.open_module) if found.best is not None else None
    under = images.choose(rig.capabilities, Version((move.version.major, 999)), torch=wish) if move is not None else choice
    if under.image is None:
        return replace(looked, blocked_by=(_why(case, choice, wish),))
    return _with_image(_Chosen(session, question, under.image, move), looked)


@dataclass(frozen=True, slots=True)
class _Chosen:
    session: Session
    question: Question
    image: ImageRecord
    move: DriverMove | None = None


def _with_image(chosen: _Chosen, looked: Outlook) -> Outlook:
    knowledge, base = chosen.session.knowledge, chosen.question.base
    case, change = Case(base, knowledge), Change(driver=chosen.move)
    place, rig = place_of(case), rig_of(case)
    mending = steps_that_mend(chosen.session, case, rig, change)
    before = (*mending, *install_steps(change, place, knowledge))
    integrated = rig.driver_fixed and chosen.image.jetpack is not None
    name = f"{chosen.image.name}-igpu" if integrated else chosen.image.name
    torch = chosen.image.torch or ""
    way = container_way(name, torch, place, knowledge.commands, integrated=integrated)
    way = replace(way, steps=(*before, *way.steps))
    driver = chosen.move.version if chosen.move else rig.driver if mending else None
    machine = with_driver(knowledge, base, driver) if driver is not None else base
    after = chains(hypothetical.with_unknown_torch(machine, torch), knowledge, thorough=True)
    return replace(looked, after=after, steps=way.steps, ways=(way,))


def _driver(rig: Rig) -> Version | None:
    """The driver, where it serves every GPU."""
    there = rig.driver
    return there if there is not None and driver_fits(rig, there, open_module=rig.open_module) else None


def _jetpack(rig: Rig) -> Version | None:
    """The system of a Jetson that needs images of its own, by its driver: from JetPack 7 on the others serve it."""
    jetson = any(is_jetson(one) for one in rig.capabilities)
    return _JETPACKS.get(rig.driver.major) if jetson and rig.driver is not None else None


def _why(case: Case, choice: ImageChoice, wish: Version | None) -> Text:
    names = ", ".join(dict.fromkeys(card.name for card in case.cards))
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
