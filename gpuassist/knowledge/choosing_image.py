"""Choosing NVIDIA's PyTorch image: the newest month that serves every GPU, under the driver that the host has."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from gpuassist.knowledge.compatibility import is_jetson, kernels_run, toolkit_builds_for
from gpuassist.knowledge.image_records import ImageFamily, ImageRecord
from gpuassist.knowledge.records import ToolkitRecord
from gpuassist.model.version import ComputeCapability, Target, Version

_OF_SERVERS = (Target.parse("sm_80"), Target.parse("sm_110"))  # what PyTorch's wheels for ARM servers hold of Jetson's generations
_OLDEST = ComputeCapability(6, 0)  # what the notes of the months before 25 name


@dataclass(frozen=True, slots=True)
class ImageChoice:
    """`image` runs under the driver that is there; without one, `newer` is what a newer driver would run, if anything does.
    `driver` is what the publisher asks for either of them.
    """

    image: ImageRecord | None
    newer: ImageRecord | None = None
    driver: Version | None = None


@dataclass(frozen=True, slots=True)
class Images:
    """What there is to choose from."""

    images: tuple[ImageRecord, ...]
    toolkits: tuple[ToolkitRecord, ...]

    def choose(
        self,
        capabilities: Iterable[ComputeCapability],
        driver: Version | None,
        *,
        torch: Version | None = None,
        jetpack: Version | None = None,
    ) -> ImageChoice:
        """The newest month whose torch is the wanted one; on Jetson the `-igpu` image for its system, whose driver stays."""
        wanted = tuple(capabilities)
        fitting = [one for one in self._newest_first() if _is_torch(one, torch) and self._serves(one, wanted)]
        if jetpack is not None:
            own = [one for one in fitting if one.jetpack is not None and one.jetpack.major == jetpack.major]
            return ImageChoice(next(iter(own), None))
        fitting = [one for one in fitting if all(_has_code(one, capability) for capability in wanted)]
        for one in fitting:
            needed = self.driver_for(one)
            if driver is not None and needed is not None and driver >= needed:
                return ImageChoice(one, driver=needed)
        newest = next(iter(fitting), None)
        return ImageChoice(None, newest, self.driver_for(newest) if newest else None)

    def driver_for(self, image: ImageRecord) -> Version | None:
        """The driver that runs an image on any GPU: what its notes ask for, else the one made for its CUDA."""
        if image.driver is not None:
            return image.driver
        record = next((one for one in self.toolkits if one.release == image.cuda.release), None)
        return record.native_driver if record else None

    def _newest_first(self) -> list[ImageRecord]:
        own = (one for one in self.images if one.family is ImageFamily.NGC_PYTORCH)
        return sorted(own, key=lambda one: one.month, reverse=True)

    def _serves(self, image: ImageRecord, capabilities: tuple[ComputeCapability, ...]) -> bool:
        record = next((one for one in self.toolkits if one.release == image.cuda.release), None)
        # The oldest GPU that an image is made for; of a month whose notes are not known, that of the next that is.
        later = (one for one in reversed(self._newest_first()) if one.month >= image.month and one.capability_min is not None)
        oldest = next((one.capability_min for one in later if one.capability_min is not None), _OLDEST)
        return record is not None and all(one >= oldest and toolkit_builds_for(record.targets, one) for one in capabilities)


def _has_code(image: ImageRecord, capability: ComputeCapability) -> bool:
    """An image that is not for Jetson has code for it all the same where that of servers runs there."""
    return not is_jetson(capability) or kernels_run(capability, _OF_SERVERS, cuda=image.cuda.release)


def _is_torch(image: ImageRecord, wanted: Version | None) -> bool:
    """Whether its torch is of the wanted release; that of a month is a step on the way to it (`2.6.0a0+…`)."""
    if wanted is None:
        return True
    return image.torch is not None and Version.parse(image.torch).parts[: len(wanted.parts)] == wanted.parts
