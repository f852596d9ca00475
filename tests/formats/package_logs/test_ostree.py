"""The deployments of an rpm-ostree system."""

from __future__ import annotations

import json

from gpuassist.formats.package_logs.ostree import Deployment, deployment_events, read_origin, read_status
from tests.formats.package_logs.reading import UTC, short

ORIGIN = """\
[origin]
container-image-reference=ostree-image-signed:docker://ghcr.io/ublue-os/bluefin-nvidia:stable

[packages]
requested=akmod-nvidia;htop;
requested-local=0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef:xorg-x11-drv-nvidia-cuda-570-1.fc42.x86_64;
"""


def test_an_origin_names_image_and_layered_packages() -> None:
    image, packages = read_origin(ORIGIN)
    assert image == "ostree-image-signed:docker://ghcr.io/ublue-os/bluefin-nvidia:stable"
    assert packages == ("akmod-nvidia", "htop", "xorg-x11-drv-nvidia-cuda-570-1.fc42.x86_64")
    assert read_origin("nothing") == ("", ())


def test_what_each_deployment_brought() -> None:
    old = Deployment("a.origin", "2026-11-01T00:00:00+00:00", "42.1", "x", ("htop", "dkms"), "6.16.1", "570.86.15")
    new = Deployment("b.origin", "2026-11-14T00:00:00+00:00", "42.2", "x", ("htop", "akmod-nvidia"), "6.17.1", "580.95.05")
    plain = Deployment("c.origin", "2026-11-15T00:00:00+00:00", "42.2", "y", ("htop", "akmod-nvidia"), "6.17.1", "")
    assert [(short(event), event.source, event.at[:10]) for event in deployment_events([new, plain, old])] == [
        (("upgraded", "ostree-deployment", "42.1", "42.2"), "b.origin", "2026-11-14"),
        (("upgraded", "kernel", "6.16.1", "6.17.1"), "b.origin", "2026-11-14"),
        (("upgraded", "nvidia-driver", "570.86.15", "580.95.05"), "b.origin", "2026-11-14"),
        (("installed", "akmod-nvidia", "", ""), "b.origin", "2026-11-14"),
        (("removed", "dkms", "", ""), "b.origin", "2026-11-14"),
        (("reinstalled", "ostree-deployment", "x", "y"), "c.origin", "2026-11-15"),
        (("removed", "nvidia-driver", "580.95.05", ""), "c.origin", "2026-11-15"),
    ]
    assert list(deployment_events([old])) == []


def test_status() -> None:
    rows = [
        {"timestamp": 1763100000, "version": "42.2", "origin": "fedora/42", "requested-packages": ["akmod-nvidia"], "booted": True},
        {"timestamp": 1762000000, "version": "42.1", "container-image-reference": "image", "packages": [3, "x"]},
        {"timestamp": "now"},
        7,
        {"timestamp": 1 << 60},
    ]
    new, old = read_status(json.dumps({"deployments": rows}), UTC, "status")
    assert (new.version, new.image, new.packages, new.made) == ("42.2", "fedora/42", ("akmod-nvidia",), True)
    assert (old.image, old.packages) == ("image", ("x",))
    for words in ("", "[", "[]", "{}", '{"deployments": 3}', '{"deployments": null}', "[" * 100_000):
        assert read_status(words, UTC, "") == ()
