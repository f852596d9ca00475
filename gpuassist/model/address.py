"""Passwords and tokens taken out of addresses, before anything else sees them."""

from __future__ import annotations

from gpuassist.model.lazy_regex import lazy_regex

_LOGIN = lazy_regex(r"(?<=://)[^/@\s]+@")
_TOKEN = lazy_regex(r"(?<=/t/)[^/\s]+(?=/)")  # as anaconda.org and its like take one


def without_secrets(words: str) -> str:
    """The words with `***` where an address holds a login or a token."""
    return _TOKEN.sub("***", _LOGIN.sub("***@", words)) if "://" in words else words
