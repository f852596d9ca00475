"""What NCCL says leads to the right problem."""

from __future__ import annotations

import pytest

from gpuassist.diagnose.signatures import nccl
from gpuassist.model.paste import Weight
from tests.diagnose.signatures.reading import CODES, parameters, problem, problems, read
from tests.rows import for_each

SIGNATURES = (*nccl.SIGNATURES, *CODES)

CUDA = "RuntimeError: NCCL error in: ProcessGroupNCCL.cpp:784, unhandled cuda error, NCCL version 21.0.3"


@for_each(
    ("words", "expected"),
    [
        ("Error while creating shared memory segment /dev/shm/nccl-pZafXL (size 7340384)", "nccl-shm"),
        ("NCCL WARN Call to posix_fallocate failed : No space left on device", "nccl-shm"),
        ("misc/shmutils.cc:72 NCCL WARN Error: failed to extend /dev/shm/nccl-abcdef to 9637892 bytes", "nccl-shm"),
        ("NCCL WARN /dev/shm/nccl-XYZ12 failed: No space left on device", "nccl-shm"),
        ("NCCL WARN Error while creating shared memory segment nccl-shm-recv-a (size 9637888)", "nccl-shm"),
        (CUDA, "nccl-cuda-error"),
        ("torch.distributed.DistBackendError: ncclUnhandledCudaError: Call to CUDA function failed.", "nccl-cuda-error"),
        ("NCCL error: unhandled system error, NCCL version 2.7.8", "nccl-shm"),
        ("ncclSystemError: System call or external library call failed", "nccl-shm"),
        ("RTX 4000 series doesn't support faster communication broadband via P2P or IB", "nccl-p2p-acs-iommu"),
        ("RTX 4000 series doesn't support faster communication speeds via P2P or IB", "nccl-p2p-acs-iommu"),
        (
            "Watchdog caught collective operation timeout: WorkNCCL(SeqNum=1, OpType=ALLREDUCE, Timeout(ms)=1800000) ran for"
            " 1800116 milliseconds before timing out.",
            "nccl-p2p-acs-iommu",
        ),
        ("CUDA error: peer access is not supported between these two devices", "nccl-p2p-acs-iommu"),
        ("AMD-Vi: Event logged [IO_PAGE_FAULT device=41:00.0 domain=0x000f]\nNVIDIA", "nccl-p2p-acs-iommu"),
        ("training hangs at init; with NCCL_P2P_DISABLE=1 it works", "nccl-p2p-acs-iommu"),
        ("simpleP2P: Verification error @ element 1: val = 0.000000, ref = 4.000000", "nccl-p2p-acs-iommu"),
        (
            "init.cc:990 NCCL WARN Mismatched NCCL version detected : rank 0 version 21805 rank 3 version 22005",
            "nccl-version-mismatch",
        ),
        ("bootstrap.cc:80 NCCL WARN Message truncated : received 1024 bytes instead of 256", "nccl-version-mismatch"),
        ("ncclSocketInit: connecting to address  with family 0 is neither AF_INET(2) nor AF_INET6(10)", "nccl-version-mismatch"),
        ("two GPUs: the first all_reduce hangs with 100% load", "nccl-p2p-acs-iommu"),
        ("NCCL 多卡训练卡住", "nccl-p2p-acs-iommu"),
    ],
)
def test_message_leads_to_its_cause(words: str, expected: str) -> None:
    assert problem(SIGNATURES, words) == expected


@pytest.mark.parametrize(
    "words",
    [
        "ncclSystemError: socket: Connection refused",
        "AMD-Vi: Event logged [IO_PAGE_FAULT device=00:14.0]",
        "NCCL INFO Channel 00 : 0[0] -> 1[1] via SHM/direct",
        "export NCCL_P2P_DISABLE=1",
        "NCCL version 2.18.5+cuda12.1",
        "the process hangs",
        "NCCL out of memory, then it hangs",
        "NCCL change log",
        "connecting to address 10.0.0.2 timed out",
        "pip is stuck at nvidia-nccl-cu12 2.20.5",
        "an unhandled exception",
    ],
)
def test_near_miss_is_nothing(words: str) -> None:
    assert problems(SIGNATURES, words) == set()


def test_releases_are_told() -> None:
    words = "NCCL WARN Mismatched NCCL version detected : rank 0 version 21805 rank 3 version 2708"
    assert parameters(SIGNATURES, words) == {"first": "2.18.5", "second": "2.7.8"}
    log = "NCCL version 2.20.5+cuda12.4\nNCCL version 2.19.3+cuda12.3\n"
    two = f"{log}NCCL WARN Message truncated : received 1024 bytes instead of 256"
    assert parameters(SIGNATURES, two) == {"first": "2.20.5", "second": "2.19.3"}


def test_cuda_error_of_nccl_is_never_the_cause_itself() -> None:
    assert {clue.weight for clue in read(SIGNATURES, CUDA)} == {Weight.CONSEQUENCE}


def test_cuda_error_of_nccl_is_named_by_its_own_log() -> None:
    words = f"{CUDA}\nncclUnhandledCudaError\nLast error:\nCuda failure 'out of memory'"
    assert parameters(nccl.SIGNATURES, words) == {"error": "out of memory", "nccl": "2.10.3", "torch": "1.10 to 1.12"}


def test_library_that_asks_to_switch_it_off_is_told() -> None:
    told = parameters(SIGNATURES, "RTX 4000 series doesn't support faster communication broadband via P2P or IB")
    assert told == {"library_asks": "yes"}


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("NCCL WARN Call to ftruncate failed : No space left on device", "nccl-shm"),
        ("misc/shmutils.cc:72 NCCL WARN Call to shm_open failed : Permission denied", "nccl-shm"),
        ("NCCL WARN Error: failed to extend /dev/shm/nccl-AbCdEf to 9637892 bytes", "nccl-shm"),
        ("cudaErrorPeerAccessUnsupported", "nccl-p2p-acs-iommu"),
        ("CUDA_ERROR_PEER_ACCESS_UNSUPPORTED", "nccl-p2p-acs-iommu"),
        ("RuntimeError: CUDA error: peer mapping resources exhausted", "nccl-p2p-acs-iommu"),
        ("DMAR: [DMA Write] Request device [65:00.0] fault addr f8139000\nnvidia 0000:65:00.0", "nccl-p2p-acs-iommu"),
        ("DistributedDataParallel freezes at the first step", "nccl-p2p-acs-iommu"),
        ("a deadlock in all_reduce on two GPUs", "nccl-p2p-acs-iommu"),
    ],
)
def test_message_is_known_in_its_other_wordings(words: str, expected: str) -> None:
    assert problem(SIGNATURES, words) == expected


@pytest.mark.parametrize(
    "words",
    [
        "Call to shm_open failed : Permission denied",
        "/dev/shm/nccl-AbCdEf was created",
        "peer access is supported between these two devices",
        "DMAR: [DMA Write] Request device [00:14.0] fault addr f8139000",
        "a deadlock in the database",
        "all_reduce freezer",
    ],
)
def test_neighbour_of_a_wording_is_nothing(words: str) -> None:
    assert problems(SIGNATURES, words) == set()


@pytest.mark.parametrize(("code", "release"), [("2410", "2.4.10"), ("2708", "2.7.8"), ("20903", "2.9.3"), ("22703", "2.27.3")])
def test_release_is_read_before_and_after_its_step_changed(code: str, release: str) -> None:
    words = f"NCCL WARN Mismatched NCCL version detected : rank 0 version {code} rank 1 version 21805"
    assert parameters(SIGNATURES, words)["first"] == release


def test_full_shared_memory_is_the_cause_of_a_system_error() -> None:
    words = "ncclSystemError: System call failed or device error. No space left on device"
    assert [(clue.problem, clue.weight) for clue in read(SIGNATURES, words)] == [("nccl-shm", Weight.CAUSE)]
