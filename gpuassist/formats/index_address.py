"""The address that a package comes from, without the name and the password that mirrors of companies have in it."""

from __future__ import annotations

import re

_LOGIN = re.compile(r"(?<=://)[^/@\s]+@")
_PYTORCH = re.compile(r"/whl/(?:nightly/|test/)?(cpu|xpu|cu\d{2,3}|rocm[\d.]+)/")


def without_login(address: str) -> str:
    """The address as it may be shown."""
    return _LOGIN.sub("", address)


def tag_of(address: str) -> str:
    """The build that an address of PyTorch's index, or of a mirror of it, is for: `cu128`; empty where it names none."""
    found = _PYTORCH.search(address)
    return found[1] if found else ""
