"""The figures of out-of-memory messages: every generation, whole, cut, wrapped, quoted, and what only looks like one."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuassist.formats.oom import OutOfMemory, Platform, ProcessUse, principal, read_messages
from gpuassist.formats.size import read_size, shown_size
from tests import memory_messages as messages
from tests.memory_messages import folded, wrapped
from tests.rows import for_each

FIELDS = ("device", "requested", "total", "free", "allocated", "private", "unallocated", "own", "allowed")


def figures(words: str) -> dict[str, str]:
    """What the text's principal message says, as it would be printed again."""
    found = principal(words)
    assert found is not None, words
    values = ((name, getattr(found, name)) for name in FIELDS)
    return {name: str(value) if name == "device" else shown_size(value) for name, value in values if value is not None}


def told(**expected: str) -> dict[str, str]:
    """Written shortly: `requested="1.50 GiB"`."""
    return expected


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (
            messages.TORCH_1_1,
            told(
                device="0",
                requested="1.12 MiB",
                total="22.37 GiB",
                free="3.56 MiB",
                allocated="15.87 GiB",
                unallocated="787.74 MiB",
            ),
        ),
        (
            messages.TORCH_1_9,
            told(
                device="1",
                requested="20.00 MiB",
                total="7.93 GiB",
                free="25.38 MiB",
                allocated="2.81 GiB",
                unallocated="256.00 MiB",
            ),
        ),
        (
            messages.TORCH_2_0,
            told(
                device="0", requested="1.95 GiB", total="7.78 GiB", free="917.81 MiB", allocated="6.50 GiB", unallocated="30.72 MiB"
            ),
        ),
        (
            messages.TORCH_2_1,
            told(
                device="0",
                requested="8.00 GiB",
                total="23.69 GiB",
                free="7.11 GiB",
                allocated="16.01 GiB",
                unallocated="7.47 MiB",
                own="16.31 GiB",
            ),
        ),
        (
            messages.TORCH_2_5,
            told(
                device="0",
                requested="1.50 GiB",
                total="23.99 GiB",
                free="412.00 MiB",
                allocated="14.02 GiB",
                unallocated="5.83 GiB",
                own="20.38 GiB",
            ),
        ),
        (
            messages.POOLS,
            told(
                device="0",
                requested="2.00 MiB",
                total="47.53 GiB",
                free="896.00 KiB",
                allocated="47.00 GiB",
                private="46.22 GiB",
                unallocated="149.10 MiB",
            ),
        ),
        (
            messages.CAPPED,
            told(
                device="0",
                requested="2.00 GiB",
                total="23.99 GiB",
                free="18.50 GiB",
                allocated="4.80 GiB",
                unallocated="10.00 MiB",
                own="5.20 GiB",
                allowed="6.00 GiB",
            ),
        ),
        (
            messages.ASYNC,
            told(device="0", requested="10.12 GiB", total="24.00 GiB", free="0 bytes", allocated="4.86 GiB"),
        ),
        (
            messages.SHARED,
            told(
                device="0",
                requested="1002.00 MiB",
                total="8.00 GiB",
                free="0 bytes",
                allocated="13.98 GiB",
                unallocated="129.48 MiB",
            ),
        ),
    ],
)
def test_every_generation_of_torch_is_read(words: str, expected: dict[str, str]) -> None:
    assert figures(words) == expected


@for_each(
    ("words", "expected"),
    [
        (
            "Resource exhausted: OOM when allocating tensor with shape[64,512,512,4] and type float on"
            " /job:localhost/device:GPU:0 by allocator GPU_0_bfc",
            told(requested="256.00 MiB"),
        ),
        ("OOM when allocating tensor with shape[8,1024,1024] and type half on /device:GPU:1", told(requested="16.00 MiB")),
        (
            "Allocator (GPU_0_bfc) ran out of memory trying to allocate 2.20GiB (rounded to 2362232064)requested by op MatMul",
            told(requested="2.20 GiB"),
        ),
        (
            "failed to allocate 1.50G (1610612736 bytes) from device: CUDA_ERROR_OUT_OF_MEMORY: out of memory",
            told(requested="1.50 GiB"),
        ),
        (
            "XlaRuntimeError: RESOURCE_EXHAUSTED: Out of memory while trying to allocate 4770354232 bytes.",
            told(requested="4.44 GiB"),
        ),
        ("RESOURCE_EXHAUSTED: Out of memory allocating 1073741824 bytes.", told(requested="1.00 GiB")),
        (
            "RESOURCE_EXHAUSTED: Failed to allocate request for 2.99GiB (3206250496B) on device ordinal 0",
            told(device="0", requested="2.99 GiB"),
        ),
        (
            "ggml_backend_cuda_buffer_type_alloc_buffer: allocating 4096.00 MiB on device 0: cudaMalloc failed: out of memory",
            told(device="0", requested="4.00 GiB"),
        ),
        (
            "cupy.cuda.memory.OutOfMemoryError: Out of memory allocating 8,589,934,592 bytes (allocated so"
            " far: 1,024 bytes, limit set to: 4,294,967,296 bytes).",
            told(requested="8.00 GiB", allowed="4.00 GiB"),
        ),
        (
            "Available memory of 1048576 is smaller than requested bytes of 2097152 (onnxruntime out of memory)",
            told(requested="2.00 MiB", free="1.00 MiB"),
        ),
        (
            "Requested amount of GPU memory (1073741824 bytes) could not be allocated. There may not be enough free memory",
            told(requested="1.00 GiB"),
        ),
        (
            "Out of memory error on GPU 0. Cannot allocate 1.000000GB memory on GPU 0, 7.500000GB memory"
            " has been allocated and available memory is only 100.000000MB.",
            told(device="0", requested="1.00 GiB", allocated="7.50 GiB", free="100.00 MiB"),
        ),
        (
            "ValueError: Free memory on device (10.20/23.99 GiB) on startup is less than desired GPU memory"
            " utilization (0.9, 21.59 GiB).",
            told(requested="21.59 GiB", total="23.99 GiB", free="10.20 GiB"),
        ),
        (
            "ValueError: Free memory on device cuda:0 (19.77/22.05 GiB) on startup is less than desired GPU"
            " memory utilization (0.9, 19.84 GiB).",
            told(requested="19.84 GiB", total="22.05 GiB", free="19.77 GiB"),
        ),
    ],
)
def test_other_programs_are_read(words: str, expected: dict[str, str]) -> None:
    found = figures(words)
    assert {name: found.get(name, "") for name in expected} == expected


@for_each("width", [23, 40, 61, 80, 100, 132])
@for_each("words", [messages.TORCH_1_9, messages.TORCH_2_1, messages.TORCH_2_5, messages.POOLS, messages.CAPPED])
def test_wrapping_changes_nothing(words: str, width: int) -> None:
    assert principal(folded(words, width)) == principal(words)
    assert principal(wrapped(words, width + 20)) == principal(words)


@pytest.mark.parametrize("prefix", ["> ", ">> ", "│ ", "| ", "    ", "# ", "[rank0]: ", "(EngineCore_DP0 pid=6940) ", "12: "])
def test_prefixes_of_quotes_and_logs_change_nothing(prefix: str) -> None:
    assert principal(folded(messages.TORCH_2_5, 76, prefix)) == principal(messages.TORCH_2_5)


@pytest.mark.parametrize(
    ("words", "gone"),
    [
        (messages.TORCH_2_5[: messages.TORCH_2_5.index("Of the allocated")], {"allocated", "unallocated"}),
        (messages.TORCH_2_5[: messages.TORCH_2_5.index("Process")], {"allocated", "unallocated", "own"}),
        (messages.TORCH_2_5[messages.TORCH_2_5.index("GPU 0 has") :], {"requested"}),
        (messages.TORCH_1_9[messages.TORCH_1_9.index("(GPU") :], {"requested"}),
        (messages.TORCH_1_9[: messages.TORCH_1_9.index("25.38")], {"free", "unallocated"}),
    ],
)
def test_of_a_cut_message_the_rest_is_read(words: str, gone: set[str]) -> None:
    whole = messages.TORCH_2_5 if "GPU 0" in words else messages.TORCH_1_9
    assert figures(words) == {name: value for name, value in figures(whole).items() if name not in gone}


def test_processes_are_listed_by_number() -> None:
    words = messages.TORCH_2_5.replace("Process 39021", "Process 7 has 1.00 GiB memory in use. Process 39021")
    found = principal(words)
    assert found is not None
    assert found.processes == (ProcessUse(7, 1 << 30), ProcessUse(39021, read_size("3.21 GiB") or 0))


def test_early_2_1_prints_the_device_as_a_character() -> None:
    assert figures(messages.TORCH_2_1.replace("GPU 0 has", "GPU  has"))["total"] == "23.69 GiB"


def test_use_that_is_not_known_is_no_figure() -> None:
    unknown = "17179869184.00 GiB"
    assert "own" not in figures(messages.TORCH_2_5.replace("20.38 GiB", unknown))
    found = principal(messages.TORCH_2_5.replace("3.21 GiB", unknown))
    assert found is not None
    assert found.processes == ()


def test_no_limit_is_no_figure() -> None:
    assert "allowed" not in figures(messages.ASYNC)


def test_more_than_an_exabyte_is_boundless() -> None:
    assert principal(messages.BOUNDLESS) == OutOfMemory(boundless=True)


@pytest.mark.parametrize(
    ("words", "platform"),
    [
        (messages.TORCH_2_5, Platform.CUDA),
        (messages.HIP, Platform.HIP),
        (messages.MPS, Platform.MPS),
        (messages.TORCH_2_5.replace("CUDA out", "XPU out"), Platform.XPU),
        (messages.TORCH_2_0.replace("CUDA out", "NPU out"), Platform.OTHER),
    ],
)
def test_the_maker_is_told(words: str, platform: Platform) -> None:
    found = principal(words)
    assert found is not None
    assert found.platform is platform


@pytest.mark.parametrize(
    "words",
    [
        "",
        "CUDA error: out of memory",
        messages.TORCH_0_1,
        messages.PROCESSOR,
        "Try a smaller batch if you run out of memory.",
        "numpy.core._exceptions._ArrayMemoryError: Unable to allocate 3.00 GiB for an array with shape (20000, 20000)",
        "Free disk space: 12.5 GiB free; 100 GiB total",
        "java.lang.OutOfMemoryError: Java heap space",
    ],
)
def test_what_has_no_figures_gives_none(words: str) -> None:
    assert read_messages(words) == ()


def test_of_several_messages_the_fullest_counts_and_the_first_of_equals() -> None:
    words = "\n".join(("CUDA out of memory. Tried to allocate 5.00 GiB.", messages.FULL, messages.TORCH_2_1, messages.TORCH_2_5))
    assert [one.requested for one in read_messages(words)] == [read_size(size) for size in ("5 GiB", "26 MiB", "8 GiB", "1.5 GiB")]
    assert figures(words)["requested"] == "8.00 GiB"


def test_two_ranks_do_not_mix() -> None:
    ranks = "\n".join(f"[rank{rank}]: {messages.FULL.replace('GPU 0', f'GPU {rank}')}" for rank in range(4))
    assert [one.device for one in read_messages(ranks)] == [0, 1, 2, 3]


def test_a_log_full_of_them_is_read_to_a_limit() -> None:
    assert len(read_messages(f"{messages.FULL}\n" * 3000)) == 20


@given(st.text(alphabet="CUDAout of memory. Tried toallocate0123456789.GiB;()\n", max_size=400))
def test_no_text_breaks_it(words: str) -> None:
    assert all(one.figures or one.boundless for one in read_messages(words))


SIZES = st.integers(1, 1 << 44)


@given(SIZES, SIZES, SIZES, SIZES, SIZES)
def test_any_figures_are_read_back(requested: int, total: int, free: int, allocated: int, unused: int) -> None:
    words = (
        f"CUDA out of memory. Tried to allocate {shown_size(requested)}. GPU 3 has a total capacity of {shown_size(total)} of which"
        f" {shown_size(free)} is free. Of the allocated memory {shown_size(allocated)} is allocated by PyTorch, and"
        f" {shown_size(unused)} is reserved by PyTorch but unallocated."
    )
    assert figures(words) == told(
        device="3",
        requested=shown_size(requested),
        total=shown_size(total),
        free=shown_size(free),
        allocated=shown_size(allocated),
        unallocated=shown_size(unused),
    )


def test_letters_that_grow_in_lower_case_move_nothing() -> None:
    assert read_messages("İİİİ: " + messages.TORCH_1_9) == read_messages(messages.TORCH_1_9)


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (
            "ValueError: To serve at least one request with the models's max seq len (32768), (4.00 GiB KV cache is needed, which"
            " is larger than the available KV cache memory (1.33 GiB). CUDA out of memory",
            told(requested="4.00 GiB", free="1.33 GiB"),
        ),
        (
            "CUDA out of memory. Allocation on device 0 would exceed allowed memory. (out of memory)\n"
            "Currently allocated     : 3.00 GiB\nRequested               : 2.00 GiB\nDevice limit            : 8.00 GiB\n"
            "Free (according to CUDA): 1.00 GiB\n"
            "PyTorch limit (set by user-supplied memory fraction)\n                        : 6.00 GiB",
            told(device="0", requested="2.00 GiB", total="8.00 GiB", free="1.00 GiB", allocated="3.00 GiB", allowed="6.00 GiB"),
        ),
        ("onnxruntime: Failed to allocate memory for requested buffer of size 2097152", told(requested="2.00 MiB")),
        ("out of memory: Requested size: 1073741824 bytes", told(requested="1.00 GiB")),
    ],
)
def test_limit_and_cache_are_read_with_the_rest(words: str, expected: dict[str, str]) -> None:
    assert figures(words) == expected
