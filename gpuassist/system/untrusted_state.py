"""The error of a state that is not to be trusted: every command knows it, and most need nothing else of `system.ownership`."""

from __future__ import annotations

from gpuassist.model.text import Text


class UntrustedStateError(Exception):
    """What gpuassist keeps between two starts could be another user's; `reason` is what the user must know."""

    def __init__(self, reason: Text) -> None:
        super().__init__(reason)
        self.reason = reason
