"""What every session function works with: the world, what is known about NVIDIA's products, and the user's language."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gpuassist.knowledge.tables import Knowledge
    from gpuassist.session.words import Words
    from gpuassist.system.world import World


@dataclass(frozen=True, slots=True)
class Session:
    """One run of gpuassist."""

    world: World
    knowledge: Knowledge
    words: Words
