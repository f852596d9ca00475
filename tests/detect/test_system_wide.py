"""What the system's own files set up for CUDA programs."""

from __future__ import annotations

from pathlib import Path

import pytest

from gpuassist.detect import system_wide
from gpuassist.model.fact import Unknown
from gpuassist.model.system_wide import LoaderDirectory, SystemWide, ToolkitLink
from tests.facts import value
from tests.fakes import link, put, world_under

SPECIFICATION = """\
cdiVersion: 0.5.0
kind: nvidia.com/gpu
containerEdits:
  mounts:
  - hostPath: /usr/lib/x86_64-linux-gnu/libEGL.so.1.1.0
  - hostPath: /usr/lib/x86_64-linux-gnu/libcuda.so.535.161.07
"""


def probe(root: Path) -> SystemWide:
    return system_wide.probe(world_under(root))


def test_bare_system_has_none_of_it(tmp_path: Path) -> None:
    found = probe(tmp_path)
    assert (value(found.links), value(found.loader), value(found.container_lists)) == ((), (), ())


def test_link_is_followed_through_the_alternatives(tmp_path: Path) -> None:
    put(tmp_path, "/usr/local/cuda-13.0/version.json")
    link(tmp_path, "/etc/alternatives/cuda", "/usr/local/cuda-13.0")
    link(tmp_path, "/usr/local/cuda", "/etc/alternatives/cuda")
    assert value(probe(tmp_path).links) == (ToolkitLink("/usr/local/cuda", "/usr/local/cuda-13.0", exists=True, alternatives=True),)


def test_link_to_a_toolkit_that_is_gone_says_so(tmp_path: Path) -> None:
    link(tmp_path, "/usr/local/cuda", "cuda-11.8")
    link(tmp_path, "/usr/local/cuda-12", "/usr/local/cuda-12.4")
    found = value(probe(tmp_path).links)
    assert [(one.path, one.target, one.exists) for one in found] == [
        ("/usr/local/cuda", "/usr/local/cuda-11.8", False),
        ("/usr/local/cuda-12", "/usr/local/cuda-12.4", False),
    ]


def test_loader_directory_counts_where_it_holds_cuda(tmp_path: Path) -> None:
    put(tmp_path, "/etc/ld.so.conf.d/988_cuda-12.conf", "# CUDA\n/usr/local/cuda-12/lib64\n/opt/other/lib\nlib/relative\n")
    put(tmp_path, "/usr/local/cuda-12.4/lib64/libcudart.so.12")
    put(tmp_path, "/usr/local/cuda-12.4/lib64/libcublas.so.12.4.5.8")
    put(tmp_path, "/opt/other/lib/libother.so.1")
    link(tmp_path, "/usr/local/cuda-12", "cuda-12.4")
    assert value(probe(tmp_path).loader) == (
        LoaderDirectory(
            "/etc/ld.so.conf.d/988_cuda-12.conf",
            "/usr/local/cuda-12/lib64",
            "/usr/local/cuda-12.4/lib64",
            ("libcublas.so", "libcudart.so"),
        ),
    )


@pytest.mark.parametrize("path", ["/etc/cdi/nvidia.yaml", "/var/run/cdi/nvidia.yaml", "/etc/cdi/nvidia.json"])
def test_list_for_containers_names_its_driver(tmp_path: Path, path: str) -> None:
    put(tmp_path, path, SPECIFICATION)
    found = value(probe(tmp_path).container_lists)
    assert [(one.path, str(value(one.driver))) for one in found] == [(path, "535.161.07")]


def test_list_without_a_driver_leaves_it_unknown(tmp_path: Path) -> None:
    put(tmp_path, "/etc/cdi/nvidia.yaml", "cdiVersion: 0.5.0\n")
    put(tmp_path, "/etc/cdi/vendor.yaml", SPECIFICATION)
    (found,) = value(probe(tmp_path).container_lists)
    assert isinstance(found.driver, Unknown)
