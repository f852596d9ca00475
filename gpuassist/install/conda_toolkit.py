"""A toolkit for a system whose own C library or compiler none fits that would: conda's, which brings both along."""

from __future__ import annotations

from dataclasses import replace

from gpuassist.diagnose.case import Case
from gpuassist.diagnose.chain import chains
from gpuassist.install import hypothetical
from gpuassist.install.place import Place
from gpuassist.install.replacements import with_toolkit
from gpuassist.install.steps import install_ways
from gpuassist.install.toolkit_methods import of_conda
from gpuassist.knowledge.change import Demand, Rig, Smallest, Stock, Wall
from gpuassist.knowledge.smallest import smallest_change
from gpuassist.knowledge.tables import Knowledge
from gpuassist.model.fact import NOT_ASKED
from gpuassist.model.outlook import Outlook, Way
from gpuassist.model.text import Text, text
from gpuassist.model.version import Version


def by_conda(knowledge: Knowledge, case: Case, looked: Outlook, *, demand: Demand, rig: Rig, place: Place) -> Outlook | None:
    """The outlook with conda's toolkit; None where something else stands in the way, or conda has none that fits."""
    if rig.glibc is None:
        return None
    found = smallest_change(replace(rig, glibc=None, gcc=None, toolkit=None, toolkits=()), demand, _stock(knowledge))
    change = found.change
    if change is None or change.toolkit is None or change.torch is not None or change.left:
        return None
    ways = tuple(one for one in install_ways(change, place, knowledge) if one.way is Way.CONDA)
    if not ways:
        return None
    # The machine as it is inside that environment, which has a C library of its own and the newest compiler that nvcc accepts.
    if change.driver is not None or change.toolkit is None:
        changed = case.machine
    else:
        made = with_toolkit(knowledge, case.machine, change.toolkit.release)
        record = knowledge.toolkit(change.toolkit.release)
        limit = record.gcc_limit if record is not None else None
        inside = replace(made, host=replace(made.host, glibc=NOT_ASKED))
        changed = hypothetical.with_gcc(inside, Version((limit,))) if limit is not None else inside
    after = chains(changed, knowledge, thorough=True)
    notes = (*looked.notes, _why(change.toolkit.release, rig.glibc))
    return replace(looked, after=after, steps=ways[0].steps, ways=ways, notes=notes)


def is_of_the_system(found: Smallest) -> bool:
    """Whether the toolkit alone finds nothing that fits."""
    return found.change is None and found.walls == (Wall.TOOLKIT,)


def _stock(knowledge: Knowledge) -> Stock:
    toolkits = tuple(one for one in knowledge.toolkits() if of_conda(one.release))
    return Stock(knowledge.branches(), knowledge.torch_builds(), toolkits)


def _why(release: Version, glibc: Version) -> Text:
    return text(
        "the headers of CUDA {release} clash with this system's glibc {glibc}: conda's nvcc compiles with a C library and a "
        "compiler of its own",
        release=str(release),
        glibc=str(glibc),
    )
