"""pip's configuration file: the settings of its sections, under the names that its options have."""

from __future__ import annotations

import configparser
from collections.abc import Mapping

_INSTALL = ("global", "install")  # the second wins where both say something


def read_pip_conf(words: str) -> Mapping[str, tuple[str, ...]]:
    """What holds for `pip install`, each with its values, one a line in the file; empty where the file cannot be read."""
    parser = configparser.RawConfigParser(strict=False)
    try:
        parser.read_string(words)
    except configparser.Error:
        return {}
    found: dict[str, tuple[str, ...]] = {}
    for section in _INSTALL:
        if parser.has_section(section):
            found.update({name.lower().replace("_", "-"): tuple(str(value).split()) for name, value in parser.items(section)})
    return {name: values for name, values in found.items() if values}
