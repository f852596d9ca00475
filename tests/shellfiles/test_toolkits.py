"""Where a directory leads, seen from the chosen toolkit, and where it would lie in that one."""

from __future__ import annotations

import pytest

from gpuassist.model.fact import Known
from gpuassist.model.toolkit import Origin, Toolkit
from gpuassist.shellfiles.statements import Element
from gpuassist.shellfiles.toolkits import InstalledToolkits, Lead, looks_like_cuda
from tests.rows import for_each

CHOSEN = Toolkit("/usr/local/cuda-12.4", links=("/usr/local/cuda",))
OLD = Toolkit("/usr/local/cuda-11.7", links=("/opt/old-cuda",))
CONDA = Toolkit("/home/you/conda", Known(Origin.CONDA, "x"))
SYSTEM = Toolkit("/usr")


def _installed(**options: str) -> InstalledToolkits:
    missing = options.get("missing", "")
    return InstalledToolkits(CHOSEN, (OLD, CONDA, SYSTEM), str, "/home/you", lambda path: path != missing)


@for_each(
    ("directory", "lead"),
    [
        ("/usr/local/cuda-12.4/bin", Lead.CHOSEN),
        ("/usr/local/cuda/lib64/", Lead.CHOSEN),
        ("/usr/local/cuda-11.7", Lead.OTHER),
        ("/opt/old-cuda/bin", Lead.OTHER),
        ("/usr/local/cuda-9.2/bin", Lead.OTHER),
        ("/opt/cuda/bin", Lead.OTHER),
        ("/usr/local/cuda-12.40/bin", Lead.OTHER),
        ("/usr/bin", Lead.ELSEWHERE),
        ("/home/you/conda/bin", Lead.ELSEWHERE),
        ("/usr/local/cuda-samples/bin", Lead.ELSEWHERE),
        ("", Lead.UNKNOWN),
        ("/", Lead.ELSEWHERE),
    ],
)
def test_where_a_directory_leads(directory: str, lead: Lead) -> None:
    assert _installed().lead(directory) is lead


@pytest.mark.parametrize(
    ("written", "directory", "moved"),
    [
        ("/usr/local/cuda-11.7/bin", "/usr/local/cuda-11.7/bin", "/usr/local/cuda-12.4/bin"),
        ("/usr/local/cuda-11.7/", "/usr/local/cuda-11.7/", "/usr/local/cuda-12.4/"),
        ("/opt/old-cuda/extras/CUPTI/lib64", "/opt/old-cuda/extras/CUPTI/lib64", "/usr/local/cuda-12.4/extras/CUPTI/lib64"),
        ("/usr/local/cuda-9.2/bin", "/usr/local/cuda-9.2/bin", "/usr/local/cuda-12.4/bin"),
        ("/usr/local/cuda-$V/bin", "/usr/local/cuda-11.7/bin", "/usr/local/cuda-12.4/bin"),
        ("$HOME/cuda-9.2/bin", "/home/you/cuda-9.2/bin", "/usr/local/cuda-12.4/bin"),
        ("/somewhere/else", "/somewhere/else", None),
    ],
)
def test_where_it_would_lie_in_the_chosen_one(written: str, directory: str, moved: str | None) -> None:
    assert _installed().moved(Element(written, directory)) == moved


def test_what_the_chosen_one_lacks_has_no_place_in_it() -> None:
    element = Element("/usr/local/cuda-11.7/nsight", "/usr/local/cuda-11.7/nsight")
    assert _installed(missing="/usr/local/cuda-12.4/nsight").moved(element) is None


def test_a_symlink_leads_where_it_really_leads() -> None:
    installed = InstalledToolkits(CHOSEN, (OLD,), lambda path: path.replace("/current", "/usr/local/cuda-11.7"))
    assert installed.lead("/current/bin") is Lead.OTHER
    assert installed.moved(Element("/current/bin", "/current/bin")) is None


@pytest.mark.parametrize(
    ("directory", "looks"),
    [
        *(("/usr/local/cuda-10.2/lib64", True), ("/opt/cuda", True), ("/usr/local/cuda/bin", True), ("/data/cuda-11/x", True)),
        *(("/home/you/cuda", False), ("/opt/cudax", False), ("/x/cuda-", False), ("/x/cuda-samples", False), ("/usr/local", False)),
    ],
)
def test_names_that_say_cuda(directory: str, looks: bool) -> None:
    assert looks_like_cuda(directory) is looks


SPACED = Toolkit("/home/My 'Own' Name/cuda-12.4")


@pytest.mark.parametrize(
    ("value", "lead"),
    [
        (f"{SPACED.root}/bin:/usr/bin", Lead.CHOSEN),
        (f"-L{SPACED.root}/lib64", Lead.CHOSEN),
        (f"{SPACED.root}/bin:/usr/local/cuda-11.7/bin", Lead.OTHER),
        ("-L/usr/local/cuda-11.7/lib64 -I/opt/x", Lead.OTHER),
        ("--xla_gpu_cuda_data_dir=/usr/local/cuda-9.9", Lead.OTHER),
        ("-O2 -isystem/opt/cuda/include", Lead.OTHER),
        ("/opt/old-cuda/bin/nvcc", Lead.OTHER),
        ("/usr/local/cuda-samples:/usr/bin", Lead.ELSEWHERE),
        ("", Lead.ELSEWHERE),
    ],
)
def test_where_a_whole_value_leads(value: str, lead: Lead) -> None:
    installed = InstalledToolkits(SPACED, (OLD, CONDA, SYSTEM), str, "/home/My 'Own' Name", lambda path: True)
    assert installed.lead_of(value) is lead
