"""conda's history of an environment."""

from __future__ import annotations

from gpuassist.formats.package_logs.conda_history import CONDA_ENTRY, read_conda_history
from gpuassist.formats.package_logs.entries import Moments
from gpuassist.model.past import PackageEvent
from tests.formats.package_logs.reading import BERLIN, of, short

LOG = """\
==> 2026-10-01 08:00:00 <==
# cmd: /home/you/miniforge3/bin/conda create -n train pytorch=2.6
# conda version: 26.1.0
+conda-forge/linux-64::pytorch-2.6.0-cuda126_py312_1
+conda-forge/noarch::requests-2.31-py_0
+https://conda.anaconda.org/conda-forge/linux-64::cuda-nvcc-12.6.85-hcdd1206_1
# update specs: ['pytorch=2.6']
==> 2026-11-14 06:12:03 <==
# cmd: /home/you/miniforge3/bin/mamba install pytorch -c https://you:secret@conda.example/x
-conda-forge/linux-64::pytorch-2.6.0-cuda126_py312_1
+conda-forge/linux-64::pytorch-2.7.0-cuda128_py312_0
==> 2026-11-15 06:12:03 <==
# cmd: conda install pytorch=2.7.0=cpu*
-conda-forge/linux-64::pytorch-2.7.0-cuda128_py312_0
+conda-forge/linux-64::pytorch-2.7.0-cpu_py312_0
-conda-forge::cuda-nvcc-12.6.85-hcdd1206_1
==> 2026-11-16 06:12:03 <==
-defaults::pytorch-2.7.0-cpu_py312_0
+defaults::pytorch-2.7.0rc1-cpu_py312_0.tar.bz2
==> 2026-11-17 06:12:03 <==
"""


def read(log: str | bytes, block: int = 1 << 20) -> list[PackageEvent]:
    return list(read_conda_history(of(log, CONDA_ENTRY, block), Moments(BERLIN), "history", "/env"))


def test_each_run() -> None:
    events = read(LOG)
    assert [(event.at[:10], *short(event), event.source) for event in events] == [
        ("2026-10-01", "installed", "pytorch", "", "2.6.0", "history:4"),
        ("2026-10-01", "installed", "cuda-nvcc", "", "12.6.85", "history:6"),
        ("2026-11-14", "upgraded", "pytorch", "2.6.0", "2.7.0", "history:11"),
        ("2026-11-15", "reinstalled", "pytorch", "2.7.0=cuda128_py312_0", "2.7.0=cpu_py312_0", "history:15"),
        ("2026-11-15", "removed", "cuda-nvcc", "12.6.85", "", "history:16"),
        ("2026-11-16", "downgraded", "pytorch", "2.7.0", "2.7.0rc1", "history:19"),
    ]
    assert {event.environment for event in events} == {"/env"}
    assert [events[0].by, events[2].by] == ["conda create -n train pytorch=2.6", "mamba install pytorch -c https://conda.example/x"]
    assert events[0].at == "2026-10-01T08:00:00+02:00"


def test_however_it_is_cut_and_what_is_none() -> None:
    for block in (1, 40, 200):
        assert read(LOG, block) == read(LOG), block
    for place in range(0, len(LOG), 3):
        read(LOG[place:])
        read(LOG[:place])
    assert read("==> x <==\n+a\n-b\n+\n==>\n+defaults::pytorch-2.6.0-0\n") == []
