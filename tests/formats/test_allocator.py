"""torch's own memory figures, in every form in which they are pasted."""

from __future__ import annotations

from gpuassist.formats.allocator import AllocatorFigures, read_allocator
from tests.rows import for_each

GIB, MIB = 1 << 30, 1 << 20
WORKSPACE = 8_519_680


@for_each(
    "words, expected",
    (
        (">>> torch.cuda.memory_allocated()\n8519680", AllocatorFigures(allocated=WORKSPACE)),
        ("torch.cuda.memory_allocated() / 1024**2\n8.125", AllocatorFigures(allocated=WORKSPACE)),
        ("torch.cuda.memory_allocated: 5.000000GB", AllocatorFigures(allocated=5 * GIB)),
        ("torch.cuda.max_memory_allocated() -> 1073741824", AllocatorFigures(allocated_peak=GIB)),
        ("torch.cuda.memory_cached(): 20971520", AllocatorFigures(reserved=20 * MIB)),
        ("Allocated: 1.0 GB\nCached:    2.0 GB", AllocatorFigures(allocated=GIB, reserved=2 * GIB)),
        ("step 7 allocated 1.00 GiB reserved 2.00 GiB", AllocatorFigures(allocated=GIB, reserved=2 * GIB)),
        ("torch.cuda.mem_get_info()\n(1073741824, 25757220864)", AllocatorFigures(free=GIB, total=25757220864)),
        ("(1073741824, 25757220864)", AllocatorFigures(free=GIB, total=25757220864)),
        (
            "{'allocated_bytes.all.current': 1073741824, 'reserved_bytes.all.peak': 2147483648, 'num_ooms': 3}",
            AllocatorFigures(allocated=GIB, reserved_peak=2 * GIB, ooms=3),
        ),
        (
            "|  PyTorch CUDA memory summary, device ID 1 |\n|  CUDA OOMs: 2  | cudaMalloc retries: 0 |\n"
            "| Allocated memory      |    8320 KiB |  12416 KiB |  20608 KiB |  12288 KiB |\n"
            "| GPU reserved memory   |   20480 KiB |  40960 KiB |  40960 KiB |  20480 KiB |",
            AllocatorFigures(WORKSPACE, 12416 << 10, 20 * MIB, 40 * MIB, device=1, ooms=2),
        ),
        (
            "[{'total_size': 20971520, 'blocks': [{'size': 8519680, 'state': 'active_allocated'}, "
            "{'size': 9, 'state': 'inactive'}]}]",
            AllocatorFigures(allocated=WORKSPACE, reserved=20 * MIB, blocks=(WORKSPACE,)),
        ),
    ),
)
def test_figures_are_read(words: str, expected: AllocatorFigures) -> None:
    assert read_allocator(words) == expected


@for_each("words", ("(3, 4)", "allocated: 12", "Cached: 12 kB\nallocated something", "(25757220864, 1073741824)", "8519680 lines"))
def test_other_numbers_are_none(words: str) -> None:
    assert read_allocator(words) is None


@for_each(
    "allocated, expected",
    ((WORKSPACE, WORKSPACE), (2 * WORKSPACE, 2 * WORKSPACE), (WORKSPACE + 512, 0), (0, 0), (100 * WORKSPACE, 0)),
)
def test_the_workspace_is_told_by_its_size(allocated: int, expected: int) -> None:
    assert AllocatorFigures(allocated=allocated).workspace == expected
