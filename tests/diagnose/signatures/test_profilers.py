"""Output of profilers, and profilers that are gone."""

from __future__ import annotations

from gpuassist.diagnose.signatures.profilers import SIGNATURES
from gpuassist.model.paste import Weight
from tests.diagnose.signatures.reading import parameters, problem, read
from tests.formats.test_line_profiles import LINES, SCALENE_TEXT
from tests.formats.test_profile_tables import NSYS, PYTHON, TORCH
from tests.rows import for_each


@for_each(
    ("words", "told"),
    [
        (
            PYTHON,
            {
                "seconds": "11.3",
                "start": "4.4",
                "rest": "6.9",
                "first": "dataset.py:31(__getitem__)",
                "share": "71",
                "kind": "data",
            },
        ),
        (TORCH, {"operator": "aten::addmm", "operator_share": "76", "gpu": "yes"}),
        (PYTHON + TORCH, {"share": "71", "operator": "aten::addmm"}),
        (NSYS, {"change": "kernels", "hint": "precision", "change_share": "90"}),
        ('[\n{"Time (%)": 100.0, "Total Time (ns)": 7, "Instances": 1, "Name": "add"}\n]', {"change": "kernels"}),
        *((f"Time (%),Total Time ({unit}),Instances,Name\n100.0,7,1,add", {"change": "kernels"}) for unit in ("us", "μs", "µs")),
        ("| Time (%) | Total Time (ms) | Instances | Name |\n| 100.0 | 7.5 | 1 | add |", {"change": "kernels"}),
        (
            LINES,
            {
                "change": "data",
                "change_share": "40",
                "share": "35",
            },
        ),
        (SCALENE_TEXT, {"change": "data", "change_share": "40", "first": "train.py:14: total < sum(range(200))"}),
        ("Time(%)  Total Time  Instances  Average  Name\n-------\n100.0  7  1  7.0  add", {"change": "kernels"}),
    ],
)
def test_shares_are_of_the_work_without_what_starting_costs(words: str, told: dict[str, str]) -> None:
    assert problem(SIGNATURES, words) == "program-profile"
    assert told.items() <= parameters(SIGNATURES, words).items()


def test_a_machine_without_a_gpu_is_no_cause_of_a_profile() -> None:
    assert all(clue.weight > Weight.CONSEQUENCE for clue in read(SIGNATURES, NSYS))


@for_each(
    ("words", "cause"),
    [
        ("/usr/bin/python: No module named torch.utils.bottleneck", "profiler"),
        ("ModuleNotFoundError: No module named 'torch.utils.bottleneck'", "profiler"),
        ("======== Warning: nvprof is not supported on devices with compute capability 8.0 and higher.", "nvprof"),
    ],
)
def test_profiler_that_is_gone_names_its_successor(words: str, cause: str) -> None:
    assert problem(SIGNATURES, words) == "not-a-gpu-problem"
    assert parameters(SIGNATURES, words)["cause_id"] == cause
