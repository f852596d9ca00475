"""What all that needs more than values works with: the world, what is known of NVIDIA's products, and the user's language."""

from __future__ import annotations

import gettext
import io
from typing import TYPE_CHECKING

from msgspec import Struct

from gpuassist.model.words import Words

if TYPE_CHECKING:
    from gpuassist.knowledge.tables import Knowledge
    from gpuassist.system.resources import Resources
    from gpuassist.system.world import World


class Session(Struct, frozen=True):
    """One run of gpuassist."""

    world: World
    knowledge: Knowledge
    words: Words


def words_for(language: str, resources: Resources) -> Words:
    """Words of a language; English where no translation of it ships."""
    try:
        compiled = resources.read(f"words/{language}/LC_MESSAGES/gpuassist.mo")
    except FileNotFoundError:
        return Words(language, gettext.NullTranslations())
    return Words(language, gettext.GNUTranslations(io.BytesIO(compiled)))
