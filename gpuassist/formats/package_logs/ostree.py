"""The deployments of an rpm-ostree system: each is a whole system, of which a few stand beside each other.

`/ostree/deploy/OSNAME/deploy/CHECKSUM.N` holds its files, `CHECKSUM.N.origin` beside it what it was made from (rust/src/origin.rs):

    [origin]
    container-image-reference=ostree-image-signed:docker://ghcr.io/ublue-os/bluefin-nvidia:stable
    [packages]
    requested=akmod-nvidia;xorg-x11-drv-nvidia-cuda;

`rpm-ostree status --json` (src/app/rpmostree-builtin-status.cxx) names the same, but not when it was deployed: its `timestamp` is
when the image was made.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import pairwise
from typing import cast

from msgspec import Struct

from gpuassist.formats.package_logs.entries import Moments, instant
from gpuassist.formats.package_logs.kinds import subject_of
from gpuassist.formats.package_logs.order import exchange
from gpuassist.model.json_reader import NotJsonError, read_json
from gpuassist.model.lazy_regex import lazy_regex
from gpuassist.model.past import PackageAction, PackageEvent

IMAGE = "ostree-deployment"
_DEPLOYMENTS_AT_MOST = 20
_PACKAGES_AT_MOST = 500
_PACKAGES = ("requested-packages", "requested-local-packages", "packages")
_KEY = lazy_regex(r"^(container-image-reference|refspec|baserefspec|requested|requested-local)=(.{0,20000})$", re.MULTILINE)
_LOCAL = lazy_regex(r"(?:[0-9a-f]{64}:)?(\S+)")


class Deployment(Struct, frozen=True):
    """One of them: `version` as its image names it, `packages` those layered on the image, `kernel` and `driver` the versions whose
    files are in it; empty where that is not told. `at` is when it was deployed or, where `made`, when its image was made.
    """

    source: str
    at: str
    version: str = ""
    image: str = ""
    packages: tuple[str, ...] = ()
    kernel: str = ""
    driver: str = ""
    made: bool = False


def read_origin(words: str) -> tuple[str, tuple[str, ...]]:
    """The image and the layered packages that an origin names."""
    image, packages = "", list[str]()
    for key, value in _KEY.findall(words):
        if key.startswith("requested"):
            packages += [found[1] for one in value.split(";") if (found := _LOCAL.fullmatch(one.strip()))]
        else:
            image = value.strip()
    return image, tuple(dict.fromkeys(packages))[:_PACKAGES_AT_MOST]


def read_status(words: str, moments: Moments, source: str) -> tuple[Deployment, ...]:
    """The deployments that the answer names; none where it is no such answer."""
    try:
        document: object = read_json(words)
    except NotJsonError:
        return ()
    rows = document.get("deployments") if isinstance(document, dict) else None
    first = cast("list[object]", rows)[:_DEPLOYMENTS_AT_MOST] if isinstance(rows, list) else []
    found = (_deployment(row, moments, source) for row in first)
    return tuple(one for one in found if one is not None)


def _deployment(row: object, moments: Moments, source: str) -> Deployment | None:
    record = cast("Mapping[str, object]", row) if isinstance(row, dict) else {}
    made = record.get("timestamp")
    at = moments.of_epoch(made) if isinstance(made, int) else ""
    if not at:
        return None
    images = (record.get(key) for key in ("container-image-reference", "origin"))
    packages = dict.fromkeys(one for key in _PACKAGES for one in _strings(record.get(key)))
    version = record.get("version")
    return Deployment(
        source,
        at,
        version if isinstance(version, str) else "",
        next((one for one in images if isinstance(one, str)), ""),
        tuple(packages)[:_PACKAGES_AT_MOST],
        made=True,
    )


def _strings(value: object) -> list[str]:
    return [one for one in cast("list[object]", value) if isinstance(one, str)] if isinstance(value, list) else []


def deployment_events(deployments: Iterable[Deployment]) -> Iterator[PackageEvent]:
    """What each brought that the one before it had not: the image, the kernel, the driver, layered packages."""
    ordered = sorted(deployments, key=lambda one: instant(one.at))
    for old, new in pairwise(ordered):
        if old.version == new.version and old.image != new.image:
            yield _event(new, PackageAction.REINSTALLED, IMAGE, (old.image, new.image))
        for package, before, after in (
            (IMAGE, old.version, new.version),
            ("kernel", old.kernel, new.kernel),
            ("nvidia-driver", old.driver, new.driver),
        ):
            if before != after and after:
                yield _event(new, exchange(before, after) if before else PackageAction.INSTALLED, package, (before, after))
        if old.driver and new.kernel and not new.driver:
            yield _event(new, PackageAction.REMOVED, "nvidia-driver", (old.driver, ""))
        for package in (one for one in new.packages if one not in old.packages and subject_of(one) is not None):
            yield _event(new, PackageAction.INSTALLED, package)
        for package in (one for one in old.packages if one not in new.packages and subject_of(one) is not None):
            yield _event(new, PackageAction.REMOVED, package)


def _event(new: Deployment, action: PackageAction, package: str, versions: tuple[str, str] = ("", "")) -> PackageEvent:
    return PackageEvent(new.at, action, package, *versions, new.source, "rpm-ostree")
