"""What each check of a verification is called, and which group it belongs to: the one table of it."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum

from gpuassist.model.text import Text, text, verbatim
from gpuassist.model.verdict import Check
from gpuassist.verify.protocol import CheckBegun, Planned


class CheckGroup(str, Enum):
    """By subject."""

    EXECUTION = "execution"
    PRODUCTS = "products"
    CONVOLUTION = "convolution"
    LINEAR_ALGEBRA = "linear algebra"
    ELEMENTS = "elements"
    NETWORKS = "networks"
    MEMORY = "memory"
    COMPILERS = "compilers"
    SEVERAL = "several"
    TOOLKITS = "toolkits"
    OTHER = "other"


GROUP_TITLES: Mapping[CheckGroup, Text] = {
    CheckGroup.EXECUTION: text("Execution"),
    CheckGroup.PRODUCTS: text("Matrix products"),
    CheckGroup.CONVOLUTION: text("Convolution"),
    CheckGroup.LINEAR_ALGEBRA: text("FFT and linear algebra"),
    CheckGroup.ELEMENTS: text("Elements"),
    CheckGroup.NETWORKS: text("Attention and networks"),
    CheckGroup.MEMORY: text("Memory and copies"),
    CheckGroup.COMPILERS: text("Compilers"),
    CheckGroup.SEVERAL: text("Several devices"),
    CheckGroup.TOOLKITS: text("Toolkits"),
    CheckGroup.OTHER: text("Other"),
}

_CHECKS: Mapping[str, tuple[CheckGroup, Text]] = {
    "first-kernel": (CheckGroup.EXECUTION, text("first kernel")),
    "comparison": (CheckGroup.EXECUTION, text("element comparison")),
    "streams": (CheckGroup.EXECUTION, text("streams and events")),
    "memory-across-streams": (CheckGroup.EXECUTION, text("memory across streams")),
    "cuda-graph": (CheckGroup.EXECUTION, text("CUDA graph")),
    "sustained-load": (CheckGroup.EXECUTION, text("sustained load")),
    "matmul": (CheckGroup.PRODUCTS, text("matrix product")),
    "batched-matmul": (CheckGroup.PRODUCTS, text("batched matrix product")),
    "convolution": (CheckGroup.CONVOLUTION, text("convolution")),
    "convolution-backward": (CheckGroup.CONVOLUTION, text("convolution, backward")),
    "convolution-stride-1": (CheckGroup.CONVOLUTION, text("convolution, stride 1")),
    "convolution-grouped": (CheckGroup.CONVOLUTION, text("convolution in groups")),
    "convolution-dilated": (CheckGroup.CONVOLUTION, text("dilated convolution")),
    "convolution-transposed": (CheckGroup.CONVOLUTION, text("transposed convolution")),
    "convolution-1d-3d": (CheckGroup.CONVOLUTION, text("convolution, 1-D and 3-D")),
    "fft": (CheckGroup.LINEAR_ALGEBRA, text("Fourier transform")),
    "fft-real": (CheckGroup.LINEAR_ALGEBRA, text("Fourier transform, real")),
    "fft-inverse": (CheckGroup.LINEAR_ALGEBRA, text("Fourier transform, inverse")),
    "fft-2d": (CheckGroup.LINEAR_ALGEBRA, text("Fourier transform, 2-D")),
    "fft-other-lengths": (CheckGroup.LINEAR_ALGEBRA, text("Fourier transform, other lengths")),
    "solve": (CheckGroup.LINEAR_ALGEBRA, text("system of equations")),
    "cholesky": (CheckGroup.LINEAR_ALGEBRA, text("Cholesky factors")),
    "qr": (CheckGroup.LINEAR_ALGEBRA, text("QR factors")),
    "svd": (CheckGroup.LINEAR_ALGEBRA, text("singular values")),
    "eigh": (CheckGroup.LINEAR_ALGEBRA, text("eigenvalues, symmetric")),
    "eig": (CheckGroup.LINEAR_ALGEBRA, text("eigenvalues")),
    "sparse-csr": (CheckGroup.LINEAR_ALGEBRA, text("sparse product, CSR")),
    "sparse-coo": (CheckGroup.LINEAR_ALGEBRA, text("sparse product, COO")),
    "elementwise": (CheckGroup.ELEMENTS, text("functions of each element")),
    "integers": (CheckGroup.ELEMENTS, text("whole numbers")),
    "reduction": (CheckGroup.ELEMENTS, text("sums")),
    "sort": (CheckGroup.ELEMENTS, text("sort")),
    "indexing": (CheckGroup.ELEMENTS, text("indexing")),
    "random-moments": (CheckGroup.ELEMENTS, text("random numbers, moments")),
    "random-independence": (CheckGroup.ELEMENTS, text("random numbers, independence")),
    "random-drawings": (CheckGroup.ELEMENTS, text("random drawings")),
    "softmax": (CheckGroup.NETWORKS, text("softmax")),
    "layer-norm": (CheckGroup.NETWORKS, text("layer normalization")),
    "group-norm": (CheckGroup.NETWORKS, text("group normalization")),
    "batch-norm": (CheckGroup.NETWORKS, text("batch normalization")),
    "embedding": (CheckGroup.NETWORKS, text("embedding")),
    "attention": (CheckGroup.NETWORKS, text("attention, torch's choice")),
    "attention-math": (CheckGroup.NETWORKS, text("attention, math")),
    "attention-flash": (CheckGroup.NETWORKS, text("attention, flash")),
    "attention-mem-efficient": (CheckGroup.NETWORKS, text("attention, memory-efficient")),
    "attention-cudnn": (CheckGroup.NETWORKS, text("attention, cuDNN")),
    "lstm": (CheckGroup.NETWORKS, text("LSTM")),
    "gru": (CheckGroup.NETWORKS, text("GRU")),
    "backward": (CheckGroup.NETWORKS, text("backward pass")),
    "network": (CheckGroup.NETWORKS, text("gradients of a network")),
    "gradients": (CheckGroup.NETWORKS, text("gradients by differences")),
    "optimizers": (CheckGroup.NETWORKS, text("steps of optimizers")),
    "mixed-precision": (CheckGroup.NETWORKS, text("mixed precision")),
    "training-loop": (CheckGroup.NETWORKS, text("training loop")),
    "xformers-attention": (CheckGroup.NETWORKS, text("attention, xformers")),
    "copy-to-device": (CheckGroup.MEMORY, text("copy to the device")),
    "copy-from-device": (CheckGroup.MEMORY, text("copy back")),
    "copy-on-device": (CheckGroup.MEMORY, text("copy on the device")),
    "pinned-to-device": (CheckGroup.MEMORY, text("pinned copy to the device")),
    "pinned-from-device": (CheckGroup.MEMORY, text("pinned copy back")),
    "memory-returned": (CheckGroup.MEMORY, text("memory given back")),
    "memory-pattern": (CheckGroup.MEMORY, text("patterns in free memory")),
    "compiled-function": (CheckGroup.COMPILERS, text("torch.compile, a function")),
    "compiled-module": (CheckGroup.COMPILERS, text("torch.compile, a module")),
    "compiled-dynamic": (CheckGroup.COMPILERS, text("torch.compile, dynamic shapes")),
    "torch-tensorrt": (CheckGroup.COMPILERS, text("Torch-TensorRT")),
    "tensorrt-engine": (CheckGroup.COMPILERS, text("TensorRT engine")),
    "peer-copy": (CheckGroup.SEVERAL, text("copy between GPUs")),
    "peer-copy-back": (CheckGroup.SEVERAL, text("copy between GPUs, back")),
    "two-processes": (CheckGroup.SEVERAL, text("two processes at once")),
    "all-reduce": (CheckGroup.SEVERAL, text("all-reduce")),
    "all-gather": (CheckGroup.SEVERAL, text("all-gather")),
    "broadcast": (CheckGroup.SEVERAL, text("broadcast")),
    "reduce-scatter": (CheckGroup.SEVERAL, text("reduce-scatter")),
    "send-receive": (CheckGroup.SEVERAL, text("send and receive")),
    "extension": (CheckGroup.TOOLKITS, text("C++ extension of torch")),
    "extension-kernel": (CheckGroup.TOOLKITS, text("CUDA extension of torch")),
}


def is_known(name: str) -> bool:
    """Whether a check of that name stands in the table."""
    return name in _CHECKS


def check_label(check: Check | CheckBegun | Planned) -> Text:
    """What a check is called; one that nobody named here goes by its own name."""
    known = _CHECKS.get(check.name)
    return known[1] if known is not None else verbatim(check.name)


def group_of(check: Check | CheckBegun | Planned) -> CheckGroup:
    """The group that a check stands in."""
    known = _CHECKS.get(check.name)
    return known[0] if known is not None else CheckGroup.OTHER
