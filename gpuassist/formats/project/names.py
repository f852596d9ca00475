"""What a project's files are called, for who reads them and for who has to know whether a file is one; it imports no reader."""

from __future__ import annotations

import re

from gpuassist.model.lazy_regex import lazy_regex

REQUIREMENTS = lazy_regex(
    r"(?:.*[-_.])?(?:requirements?|reqs)(?:[-_.].*)?\.(?:txt|in)|constraints?(?:[-_.].*)?\.txt", re.IGNORECASE
)
ENVIRONMENT = lazy_regex(
    r"(?:conda[-_.]?)?env(?:ironment)?(?:[-_.].*)?\.ya?ml|.*[-_.]env(?:ironment)?\.ya?ml|conda(?:[-_.](?!lock).*)?\.ya?ml",
    re.IGNORECASE,
)
DOCKERFILE = lazy_regex(r"(?:dockerfile|containerfile)(?:[-_.].*)?|.*\.(?:dockerfile|containerfile)", re.IGNORECASE)
COMPOSE = lazy_regex(r"(?:docker-)?compose(?:[-_.].*)?\.ya?ml", re.IGNORECASE)
REQUIREMENTS_FOLDER = lazy_regex(r"(?:.*/)?requirements/[\w.-]+\.(?:txt|in)", re.IGNORECASE)
ENDINGS = (".cmake", ".mk", ".sh", ".bash")
BUILD_NAMES = frozenset({"CMakeLists.txt", "Makefile", "makefile", "GNUmakefile"})
_EXACT = frozenset({"pyproject.toml", "Pipfile", "setup.py", "setup.cfg", ".python-version", ".tool-versions", *BUILD_NAMES})
MARKS = ("pyproject.toml", "setup.py", "setup.cfg", "requirements.txt", "environment.yml", "CMakeLists.txt", "Dockerfile", ".git")
"""What shows that a directory is one of a project."""


def names_needs(name: str) -> bool:
    """Whether a file of that name says what a project needs; modules and scripts are called anything."""
    patterns = (REQUIREMENTS, COMPOSE, ENVIRONMENT, DOCKERFILE)
    return name in _EXACT or any(one.fullmatch(name) is not None for one in patterns)


def is_source(name: str) -> bool:
    """Whether a file is a module, a script or a part of a build, in which a line may be changed as well."""
    return name.endswith((".py", *ENDINGS))
