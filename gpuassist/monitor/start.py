"""How the process that asks NVML is started: when a sample is first wanted, or as early as it is known that one will be.

On the command line the second takes a third off the time of one sample: Python and NVML's binding start over there while the rest
of gpuassist is still being imported here.
"""

from __future__ import annotations

from collections.abc import Mapping

from gpuassist.system.own_child import clean, inherited
from gpuassist.system.piped_child import PipedChild, command, start_piped

HIDDEN_ARGUMENT = "--sample-gpus"  # with which a frozen gpuassist starts itself: __main__

_begun: list[PipedChild] = []


def start(variables: Mapping[str, str]) -> PipedChild:
    """The one that was begun early, or a new one; raises `OSError` where it cannot be started."""
    return _begun.pop() if _begun else start_piped(command("gpuassist.monitor.sampling_child", HIDDEN_ARGUMENT), clean(variables))


def begin_early() -> None:
    """Starts one for whoever asks first; a failure is found again there, where it is told."""
    try:
        _begun.append(start(inherited()))
    except (OSError, ValueError):
        pass
