"""Out-of-memory messages as programs of all years print them, in whole and with what people do to them when they paste."""

from __future__ import annotations

HINT = (
    " If reserved but unallocated memory is large try setting PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True to avoid"
    " fragmentation.  See documentation for Memory Management "
    " (https://pytorch.org/docs/stable/notes/cuda.html#environment-variables)"
)
OLD_HINT = (
    " If reserved memory is >> allocated memory try setting max_split_size_mb to avoid fragmentation.  See documentation for"
    " Memory Management and PYTORCH_CUDA_ALLOC_CONF"
)
TORCH_0_1 = (
    "THCudaCheck FAIL file=/pytorch/torch/lib/THC/generic/THCStorage.cu line=66 error=2 : out of memory\n"
    "RuntimeError: cuda runtime error (2) : out of memory at /pytorch/torch/lib/THC/generic/THCStorage.cu:66"
)
TORCH_1_1 = (
    "RuntimeError: CUDA out of memory. Tried to allocate 1.12 MiB (GPU 0; 22.37 GiB total capacity; 15.87 GiB already allocated;"
    " 3.56 MiB free; 787.74 MiB cached)"
)
TORCH_1_9 = (
    "RuntimeError: CUDA out of memory. Tried to allocate 20.00 MiB (GPU 1; 7.93 GiB total capacity; 2.81 GiB already allocated;"
    " 25.38 MiB free; 3.06 GiB reserved in total by PyTorch)"
)
TORCH_2_0 = (
    "torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 1.95 GiB (GPU 0; 7.78 GiB total capacity; 6.50 GiB already"
    " allocated; 917.81 MiB free; 6.53 GiB reserved in total by PyTorch)" + OLD_HINT
)
TORCH_2_1 = (
    "torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 8.00 GiB. GPU 0 has a total capacty of 23.69 GiB of which"
    " 7.11 GiB is free. Process 2006998 has 256.00 MiB memory in use. Including non-PyTorch memory, this process has 16.31 GiB"
    " memory in use. Of the allocated memory 16.01 GiB is allocated by PyTorch, and 7.47 MiB is"
    " reserved by PyTorch but unallocated."
    " If reserved but unallocated memory is large try setting max_split_size_mb to avoid fragmentation."
)
TORCH_2_5 = (
    "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 1.50 GiB. GPU 0 has a total"
    " capacity of 23.99 GiB of which 412.00"
    " MiB is free. Process 39021 has 3.21 GiB memory in use. Including non-PyTorch memory, this"
    " process has 20.38 GiB memory in use."
    " Of the allocated memory 14.02 GiB is allocated by PyTorch, and 5.83 GiB is reserved by PyTorch but unallocated." + HINT
)
POOLS = (
    "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 MiB. GPU 0 has a total"
    " capacity of 47.53 GiB of which 896.00"
    " KiB is free. Process 1686436 has 47.51 GiB memory in use. Of the allocated memory 47.00 GiB"
    " is allocated by PyTorch, with 46.22"
    " GiB allocated in private pools (e.g., CUDA Graphs), and 149.10 MiB is reserved by PyTorch but unallocated." + HINT
)
CAPPED = (
    "torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 23.99 GiB of which"
    " 18.50 GiB is free. Including non-PyTorch memory, this process has 5.20 GiB memory in use. 6.00 GiB allowed; Of the allocated"
    " memory 4.80 GiB is allocated by PyTorch, and 10.00 MiB is reserved by PyTorch but unallocated." + HINT
)
CONTAINER = (
    "CUDA out of memory. Tried to allocate 35.60 GiB. GPU 0 has a total capacity of 79.33 GiB of which 26.16 GiB is free. Process"
    " 76883 has 53.16 GiB memory in use. Of the allocated memory 11.97 GiB is allocated by PyTorch, and 40.69 GiB is reserved by"
    " PyTorch but unallocated." + HINT
)
SHARED = (
    "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 1002.00 MiB. GPU 0 has a total capacity of 8.00 GiB of which 0"
    " bytes is free. Of the allocated memory 13.98 GiB is allocated by PyTorch, and 129.48 MiB is reserved by PyTorch but"
    " unallocated." + HINT
)
FULL = (
    "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 26.00 MiB. GPU 0 has a total"
    " capacity of 44.43 GiB of which 19.00"
    " MiB is free. Including non-PyTorch memory, this process has 44.40 GiB memory in use. Of the allocated memory 43.94 GiB is"
    " allocated by PyTorch, and 41.95 MiB is reserved by PyTorch but unallocated." + HINT
)
FOREIGN = (
    "torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 1.69 GiB (GPU 0; 14.56 GiB"
    " total capacity; 649.97 MiB already"
    " allocated; 1.31 GiB free; 1.01 GiB reserved in total by PyTorch)" + OLD_HINT
)
ABSURD = (
    "RuntimeError: CUDA out of memory. Tried to allocate 130674.04 GiB (GPU 0; 11.91 GiB total"
    " capacity; 1.20 GiB already allocated;"
    " 9.80 GiB free; 1.40 GiB reserved in total by PyTorch)"
)
BOUNDLESS = "RuntimeError: CUDA out of memory. Tried to allocate more than 1EB memory."
ASYNC = (
    "torch.OutOfMemoryError: Allocation on device 0 would exceed allowed memory. (out of memory)\n"
    "Currently allocated     : 4.86 GiB\n"
    "Requested               : 10.12 GiB\n"
    "Device limit            : 24.00 GiB\n"
    "Free (according to CUDA): 0 bytes\n"
    "PyTorch limit (set by user-supplied memory fraction)\n"
    "                        : 17179869184.00 GiB"
)
HIP = TORCH_2_5.replace("CUDA out of memory", "HIP out of memory").replace("PYTORCH_CUDA", "PYTORCH_HIP")
MPS = (
    "RuntimeError: MPS backend out of memory (MPS allocated: 17.99 GB, max allowed: 18.13 GB)."
    " Tried to allocate 256.00 MB on private pool."
)
PROCESSOR = (
    "RuntimeError: [enforce fail at alloc_cpu.cpp:75] . DefaultCPUAllocator: can't allocate memory:"
    " you tried to allocate 84934656000 bytes."
)


def wrapped(words: str, width: int) -> str:
    """Broken hard, as a terminal does: in the middle of words and numbers."""
    return "\n".join(words[start : start + width] for start in range(0, len(words), width))


def folded(words: str, width: int, prefix: str = "") -> str:
    """Broken between words, each line behind a prefix."""
    lines, line = [], ""
    for word in words.split():
        if line and len(line) + 1 + len(word) > width:
            lines.append(line)
            line = ""
        line = f"{line} {word}" if line else word
    return "\n".join(f"{prefix}{one}" for one in [*lines, line])
