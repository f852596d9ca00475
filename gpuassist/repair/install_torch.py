"""The steps to another torch: into a new environment, into the one that is there once torch is out of it, or in torch's place."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from gpuassist.knowledge.change import TorchMove
from gpuassist.knowledge.commands import Commands
from gpuassist.knowledge.companions import Company, built_for_it, company_of, of_torch
from gpuassist.knowledge.records import TorchBuild
from gpuassist.knowledge.tables import Knowledge
from gpuassist.model.outlook import Way, WayPlan
from gpuassist.model.plan import Proves, Step, StepProof, Tool
from gpuassist.model.text import Text, text
from gpuassist.repair.install_index import notes_on_index, origin_of
from gpuassist.repair.install_place import Place, Use, step, use
from gpuassist.repair.install_way import Target, create, here, new


def torch_ways(move: TorchMove, place: Place, knowledge: Knowledge) -> tuple[WayPlan, ...]:
    """The ways to the build, the best first. A torch that is there is best left to the environment that works with it; where
    none is, installing it changes nothing that is there.
    """
    goal = _Goal(move, place, knowledge)
    without_pip = place.tool == "uv" and place.around.wished is Tool.PIP  # uv puts no pip into what it makes
    if not place.tool or move.python is not None or without_pip:
        return (goal.in_new(),)
    if not place.torch_there:
        return (goal.added(), goal.in_new())
    return (goal.in_new(), goal.cleaned(), goal.exchanged())


def left_by(move: TorchMove, place: Place, knowledge: Knowledge) -> tuple[Text, ...]:
    """What of the environment will not work with the build, whichever way it comes, and what the user's settings have to do with
    it.
    """
    tool = new(place, move).tool
    return (*_Goal(move, place, knowledge).company.left, *notes_on_index(move.build, tool, place.around.settings))


def jetson_steps(place: Place, commands: Commands) -> tuple[Step, ...]:
    """torch of NVIDIA's own index for the system that the board runs: its driver cannot be replaced alone."""
    target = here(place) if place.tool else new(place, None)
    made = () if place.tool else (create(target, place, commands),)
    does = text("Install torch from NVIDIA's index for JetPack 6; PyTorch's own builds need a newer driver than this system's")
    remove = (use("torch-remove", python=target.python),) if place.torch_there and place.tool else ()
    uses = (*remove, use("torch-install-jetson", python=target.python))
    return (*made, step(uses, place, commands, (does, _check(target))))


@dataclass(frozen=True, slots=True)
class _Goal:
    """A build that is to come to a place."""

    move: TorchMove
    place: Place
    knowledge: Knowledge

    @property
    def build(self) -> TorchBuild:
        return self.move.build

    @property
    def commands(self) -> Commands:
        return self.knowledge.commands

    @property
    def company(self) -> Company:
        release = self.knowledge.torch_release(self.build.newest)
        return company_of(self.build, self.place.around.packages, release, self.knowledge.bad_pairs())

    def in_new(self) -> WayPlan:
        """Beside what is there, which then stays as it is."""
        target = new(self.place, self.move)
        name = self.place.around.name
        does = text("In a new environment, {directory}; what is there stays as it is", directory=target.prefix)
        notes = (text("the other packages of {name} do not come along: install what your project needs there as well", name=name),)
        told = notes if name and self.place.torch_there else ()
        return WayPlan(Way.NEW, does, (create(target, self.place, self.commands, self.move), *self._installed(target)), told)

    def added(self) -> WayPlan:
        """Into an environment that has no torch."""
        target = here(self.place)
        does = text("Into {name}, which has no torch yet", name=self.place.around.name or target.python)
        return WayPlan(Way.IN_PLACE, does, tuple(self._installed(target)))

    def cleaned(self) -> WayPlan:
        """Into the same environment, once nothing of the old torch is left in it."""
        target = here(self.place)
        wheels = (one.distribution for one in self.knowledge.wheels())
        gone = of_torch(self.place.around.packages, wheels)
        does = text("In {name}, once every package that belongs to torch is out of it", name=self._name)
        return WayPlan(Way.CLEAN, does, (self._removal(target, gone), *self._installed(target)))

    def exchanged(self) -> WayPlan:
        """Into the same environment, torch and what is built for it alone."""
        target = here(self.place)
        uses = (_remove(target, built_for_it(self.place.around.packages)), *self._uses(target))
        does = text("In {name}, in the place of the torch that is there", name=self._name)
        note = text("what the old torch brought and the new one does not ask for stays in {name}", name=self._name)
        return WayPlan(Way.IN_PLACE, does, (self._install_step(uses, target), *self._others(target)), (note,))

    @property
    def _name(self) -> str:
        return self.place.around.name or self.place.python

    def _removal(self, target: Target, packages: tuple[str, ...]) -> Step:
        does = text("Take everything that belongs to torch out of {name}", name=self._name)
        directory = self.place.around.directory
        proof = StepProof(Proves.ABSENT, directory) if directory else None
        check = text("{directory} is gone", directory=directory) if directory else None
        return step((_remove(target, packages),), self.place, self.commands, (does, check), run=target.run, proof=proof)

    def _installed(self, target: Target) -> Iterator[Step]:
        yield self._install_step(tuple(self._uses(target)), target)
        yield from self._others(target)

    def _install_step(self, uses: tuple[Use, ...], target: Target) -> Step:
        version, tag = str(self.build.newest), self.build.tag
        does = text("Install torch {version} of the build {tag}", version=version, tag=tag)
        proof = StepProof(Proves.TORCH, target.python, f"{version}+{tag}")
        return step(uses, self.place, self.commands, (does, _check(target)), run=target.run, proof=proof)

    def _uses(self, target: Target) -> Iterator[Use]:
        origin = origin_of(self.build, target.tool, self.place.around.settings)
        torch, *others = self.company.requirements
        exact = f"{torch}+{self.build.tag}" if origin.exact else torch
        key = "packages-install" if origin.own else "packages-install-tag"
        suffix = "-uv" if target.tool is Tool.UV else ""
        requirements = " ".join((exact, *others))
        yield use(f"{key}{suffix}", python=target.python, requirements=requirements, tag=self.build.tag)

    def _others(self, target: Target) -> Iterator[Step]:
        others = self.company.others
        if others:
            key = "packages-install-uv" if target.tool is Tool.UV else "packages-install"
            uses = (use(key, python=target.python, requirements=" ".join(others)),)
            does = text("Install {packages}, which works with torch and is not PyTorch's", packages=", ".join(others))
            yield step(uses, self.place, self.commands, (does, None), run=target.run)


def _remove(target: Target, packages: tuple[str, ...]) -> Use:
    key = "packages-remove-uv" if target.tool is Tool.UV else "packages-remove"
    return use(key, python=target.python, packages=" ".join(packages))


def _check(target: Target) -> Text:
    return text("`gpuassist verify --python {python}` passes on every GPU", python=target.python)
