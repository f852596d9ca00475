"""May a container of a whole system, which shares the host's kernel and is given its devices one by one, use the GPU?"""

from __future__ import annotations

from collections.abc import Iterator

from gpuassist.diagnose.case import RuleInput
from gpuassist.diagnose.verdicts import Verdict, finding, listed, named, proof
from gpuassist.model.fact import Known
from gpuassist.model.text import text, verbatim

# NVML_ERROR_NO_PERMISSION, _OPERATING_SYSTEM, _UNKNOWN (nvml.h): what a node ends in that may not be opened.
_REFUSED = frozenset({4, 17, 999})
_NAMES = {"lxc": "LXC"}


def devices_are_allowed(case: RuleInput) -> Iterator[Verdict]:
    """Nodes that are missing, or that look usable and are refused by the host's device rules, which no file here shows."""
    nodes, status = case.machine.driver.device_nodes, case.machine.driver.nvml_status
    if not (case.system_container and case.cards and case.loaded and isinstance(nodes, Known)):
        return
    usable = bool(nodes.value) and all(node.readable and node.writable for node in nodes.value)
    refused = usable and isinstance(status, Known) and status.value.code in _REFUSED
    if not nodes.value or refused:
        yield finding(
            "container-lxc-devices",
            proof(text("device nodes"), nodes, verbatim(listed([node.path for node in nodes.value])) if refused else text("none")),
            proof(text("NVML"), status, verbatim(status.value.name)) if refused and isinstance(status, Known) else None,
            kind=_NAMES.get(case.container, case.container),
            gpu=named(card.name for card in case.cards),
        )


RULES = (devices_are_allowed,)
