"""Samples in words."""

from __future__ import annotations

import pytest

from gpuassist.model.fact import NOT_ASKED
from gpuassist.model.sample import GpuSample
from gpuassist.model.words import ENGLISH
from gpuassist.present.samples import (
    gpu_figures,
    gpu_title,
    gpu_trouble,
    process_name,
    size,
    subtitle,
    window_words,
)
from tests.ui.made import GIB, gpu, process, sample


def test_a_gpu_goes_by_its_short_name() -> None:
    assert ENGLISH(gpu_title(gpu(1))) == "GPU 1 · RTX 4090"


def test_a_gpu_without_a_name_goes_by_its_number() -> None:
    assert ENGLISH(gpu_title(GpuSample(3))) == "GPU 3"


def test_a_mig_instance_goes_by_its_gpus_number_and_its_own() -> None:
    assert ENGLISH(gpu_title(GpuSample(3002, parent=2))) == "GPU 2:2"


def test_a_process_on_two_gpus_is_one() -> None:
    both = sample(0, gpu(0, process(7, 1)), gpu(1, process(7, 1), process(8, 1)))
    assert "2 GPUs · 2 processes" in ENGLISH(subtitle(both, None))


def test_figures_that_are_not_known_are_left_out() -> None:
    assert ENGLISH(gpu_figures(GpuSample(0))) == ""


def test_use_without_a_total_stands_alone() -> None:
    told = GpuSample(0, memory_used_bytes=gpu(0).memory_used_bytes)
    assert ENGLISH(gpu_figures(told)) == "512 MiB"


def test_a_gpu_that_tells_has_no_trouble() -> None:
    assert gpu_trouble(gpu(0)) is None


def test_a_gpu_that_is_silent_says_why() -> None:
    assert gpu_trouble(GpuSample(0)) == NOT_ASKED.reason


@pytest.mark.parametrize(
    ("command", "name"),
    [
        ("python train.py --batch 24", "train.py"),
        ("/usr/bin/python3.11 -u /home/you/run/train.py", "train.py"),
        ("python -m torch.distributed.run train.py", "torch.distributed.run"),
        ("python -c 'import torch'", "python"),
        ("python", "python"),
        ("/usr/lib/xorg/Xorg vt2", "Xorg"),
        ("bash ./run.sh", "run.sh"),
        ("", "process 7"),
    ],
)
def test_a_process_is_known_by_what_it_runs(command: str, name: str) -> None:
    assert ENGLISH(process_name(command, 7)) == name


@pytest.mark.parametrize(("count", "words"), [(0, "0 MiB"), (300 << 20, "300 MiB"), (GIB, "1.0 GiB"), (14_500_000_000, "13.5 GiB")])
def test_sizes_have_one_decimal(count: int, words: str) -> None:
    assert ENGLISH(size(count)) == words


def test_the_subtitle_counts_gpus_and_processes() -> None:
    told = ENGLISH(subtitle(sample(0, gpu(0, process(1, 1), process(2, 1)), gpu(1)), 0.0))
    assert told.startswith("2 GPUs · 2 processes · history since ")


def test_processes_nobody_lists_are_not_counted() -> None:
    assert "process" not in ENGLISH(subtitle(sample(0, gpu(0, lost="gone")), 0.0))


@pytest.mark.parametrize(("seconds", "words"), [(60, "1 min"), (900, "15 min"), (3600, "1 h"), (86400, "24 h")])
def test_a_window_is_named_by_its_length(seconds: float, words: str) -> None:
    assert ENGLISH(window_words(seconds)) == words
