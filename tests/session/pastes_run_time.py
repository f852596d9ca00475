"""A program that fails at run time as it is pasted, each with its cause."""

from __future__ import annotations

PASTES = (
    (
        "cublas-init-failed-oom",
        "RuntimeError: CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`",
    ),
    (
        "cublas-init-failed-oom",
        "E tensorflow/stream_executor/cuda/cuda_blas.cc:226] failed to create cublas handle: "
        "CUBLAS_STATUS_ALLOC_FAILED\n"
        "W stream.cc:2041] attempting to perform BLAS operation using StreamExecutor without BLAS support",
    ),
    (
        "cublas-init-failed-oom",
        "E tensorflow/stream_executor/cuda/cuda_dnn.cc:328] Could not create cudnn handle: CUDNN_STATUS_ALLOC_FAILED",
    ),
    (
        "cuda-visible-devices-bad",
        "RuntimeError: CUDA error: invalid device ordinal\n"
        "GPU device may be out of range, do you have enough GPUs?\n"
        "CUDA kernel errors might be asynchronously reported at some other API call\n"
        "# torchrun --nproc_per_node=4, 2 GPUs",
    ),
    (
        "cuda-visible-devices-bad",
        "pytorch_lightning.utilities.exceptions.MisconfigurationException: You requested GPUs: [0, 1, 2, 3]\n"
        " But your machine only has: [0]",
    ),
    (
        "cuda-visible-devices-bad",
        "RuntimeError: Attempting to deserialize object on CUDA device 1 but torch.cuda.device_count() is 1. "
        "Please use torch.load with map_location to map your storages to an existing device.",
    ),
    (
        "cuda-visible-devices-bad",
        "torch.distributed.DistBackendError: NCCL error in: "
        "../torch/csrc/distributed/c10d/ProcessGroupNCCL.cpp:1269, invalid usage, NCCL version 2.14.3\n"
        "ncclInvalidUsage: This usually reflects invalid usage of NCCL library.\n"
        "Last error:\n"
        "Duplicate GPU detected : rank 0 and rank 1 both on CUDA device 1000",
    ),
    (
        "cuda-visible-devices-bad",
        'os.environ["CUDA_VISIBLE_DEVICES"] = "1"\n'
        "RuntimeError: No CUDA GPUs are available\n"
        "| NVIDIA-SMI 525.60.13    Driver Version: 525.60.13    CUDA Version: 12.0     |\n"
        "|   0  NVIDIA GeForce RTX 3060     Off  | 00000000:01:00.0 Off |                  N/A |",
    ),
    (
        "cuda-visible-devices-bad",
        "AssertionError: Invalid device id\n"
        '  File "torch/nn/parallel/data_parallel.py", line 133, in __init__\n'
        "# DataParallel(device_ids=[0,1,2,3]) on a machine with 2 GPUs",
    ),
    (
        "dataloader-shm-or-ram",
        "ERROR: Unexpected bus error encountered in worker. This might be caused by insufficient shared "
        "memory (shm).\n"
        "RuntimeError: DataLoader worker (pid 17234) is killed by signal: Bus error. It is possible that "
        "dataloader's workers are out of shared memory. Please try to raise your shared memory limit.\n"
        "# docker",
    ),
    (
        "dataloader-shm-or-ram",
        "RuntimeError: [enforce fail at alloc_cpu.cpp:114] data. DefaultCPUAllocator: not enough memory: you "
        "tried to allocate 9663676416 bytes.",
    ),
    (
        "dataloader-shm-or-ram",
        "[12345.6] Out of memory: Killed process 8544 (python) total-vm:64GB, anon-rss:31GB\nKilled",
    ),
    (
        "dataloader-shm-or-ram",
        "RuntimeError: unable to write to file </torch_123_456>",
    ),
    (
        "dataloader-shm-or-ram",
        "RuntimeError: DataLoader worker (pid(s) 21120, 21121) exited unexpectedly",
    ),
    (
        "device-side-assert",
        "../aten/src/ATen/native/cuda/Indexing.cu:1141: indexSelectLargeIndex: block: [262,0,0], thread: "
        "[32,0,0] Assertion `srcIndex < srcSelectDimSize` failed.\n"
        "Traceback (most recent call last):\n"
        "RuntimeError: CUDA error: CUBLAS_STATUS_NOT_INITIALIZED when calling `cublasCreate(handle)`",
    ),
    (
        "device-side-assert",
        "THCudaCheck FAIL file=/pytorch/aten/src/THC/generic/THCTensorMath.cu line=26 error=59 : device-side "
        "assert triggered\n"
        "IndexError",
    ),
    (
        "device-side-assert",
        "/opt/conda/conda-bld/pytorch/work/aten/src/THCUNN/ClassNLLCriterion.cu:108: "
        "cunn_ClassNLLCriterion_updateOutput_kernel: block: [0,0,0], thread: [3,0,0] Assertion `t >= 0 && t "
        "< n_classes` failed.\n"
        "RuntimeError: CUDNN_STATUS_MAPPING_ERROR",
    ),
    (
        "device-side-assert",
        "RuntimeError: CUDA error: device-side assert triggered\n"
        "CUDA kernel errors might be asynchronously reported at some other API call, so the stacktrace below "
        "might be incorrect.\n"
        "For debugging consider passing CUDA_LAUNCH_BLOCKING=1.\n"
        "Compile with `TORCH_USE_CUDA_DSA` to enable device-side assertions.",
    ),
    (
        "device-side-assert",
        "/pytorch/aten/src/ATen/native/cuda/ScatterGatherKernel.cu:115: operator(): block: [0,0,0], thread: "
        '[64,0,0] Assertion `idx_dim >= 0 && idx_dim < index_size && "index out of bounds"` failed.\n'
        "RuntimeError: CUDA error: CUBLAS_STATUS_EXECUTION_FAILED when calling cublasSgemm",
    ),
    (
        "driver-too-old-for-cuda",
        "RuntimeError: CUDA error: CUDA driver version is insufficient for CUDA runtime version\n"
        "$ nvidia-smi\n"
        "| NVIDIA-SMI 450.119.03   Driver Version: 450.119.03   CUDA Version: 11.0     |\n"
        "torch 2.1.0+cu121",
    ),
    (
        "driver-too-old-for-cuda",
        "UserWarning: CUDA initialization: The NVIDIA driver on your system is too old (found version "
        "11040). Please update your GPU driver\n"
        ">>> torch.__version__\n"
        "'2.0.1+cu118'",
    ),
    (
        "driver-too-old-for-cuda",
        "ggml_cuda_init: failed to initialize CUDA: CUDA driver version is insufficient for CUDA runtime version",
    ),
    (
        "gpu-memory-held-by-dead-process",
        "|   0  GeForce RTX 2080 Ti  Off  | 00000000:01:00.0 Off |                  N/A |\n"
        "| 27%   41C    P8    20W / 250W |  10813MiB / 11019MiB |      0%      Default |\n"
        "+-----------------------------------------------------------------------------+\n"
        "| Processes:                                                       GPU Memory |\n"
        "|  GPU       PID   Type   Process name                             Usage      |\n"
        "|=============================================================================|\n"
        "|  No running processes found                                                 |",
    ),
    (
        "healthy",
        "$ nvidia-smi\n"
        "+-----------------------------------------------------------------------------------------+\n"
        "| NVIDIA-SMI 550.54.14              Driver Version: 550.54.14      CUDA Version: 12.4     |\n"
        "|-----------------------------------------+------------------------+----------------------+\n"
        "| GPU  Name                 Persistence-M | Bus-Id          Disp.A | Volatile Uncorr. ECC |\n"
        "|   0  NVIDIA GeForce RTX 4090        Off |   00000000:01:00.0 Off |                  Off |\n"
        "|  0%   35C    P8             20W /  450W |       1MiB /  24564MiB |      0%      Default |\n"
        '$ python -c "import torch; print(torch.cuda.is_available())"\n'
        "True",
    ),
    (
        "illegal-memory-access",
        "RuntimeError: CUDA error: an illegal memory access was encountered\n"
        "CUDA kernel errors might be asynchronously reported at some other API call,so the stacktrace below "
        "might be incorrect.\n"
        "For debugging consider passing CUDA_LAUNCH_BLOCKING=1.\n"
        "terminate called after throwing an instance of 'c10::CUDAError'",
    ),
    (
        "illegal-memory-access",
        "terminate called after throwing an instance of 'thrust::system::system_error'\n"
        "  what():  CUDA free failed: an illegal memory access was encountered",
    ),
    (
        "illegal-memory-access",
        'CUDA error at kernels.cu:212 code=77(cudaErrorIllegalAddress) "cudaDeviceSynchronize()" ',
    ),
    (
        "illegal-memory-access",
        "[CUDA] Error: GPU #0 (Tesla P100): unspecified launch failure in function foo, file x.cu",
    ),
    (
        "illegal-memory-access",
        "RuntimeError: CUDA error: misaligned address\nCUDA kernel errors might be asynchronously reported",
    ),
    (
        "illegal-memory-access",
        "CUDA error 700 at /tmp/x/ggml-cuda.cu:7788: an illegal memory access was encountered\ncurrent device: 0",
    ),
    (
        "nccl-cuda-error",
        "RuntimeError: NCCL error in: ../torch/csrc/distributed/c10d/ProcessGroupNCCL.cpp:1269, unhandled "
        "cuda error, NCCL version 2.14.3\n"
        "ncclUnhandledCudaError: Call to CUDA function failed.\n"
        "Last error:\n"
        "Cuda failure 'invalid argument'",
    ),
    (
        "nccl-cuda-error",
        "RuntimeError: NCCL error in: "
        "/opt/conda/conda-bld/pytorch/work/torch/lib/c10d/ProcessGroupNCCL.cpp:784, unhandled cuda error, "
        "NCCL version 2.7.8",
    ),
    (
        "nccl-cuda-error",
        "torch.distributed.DistBackendError: NCCL error in: "
        "../torch/csrc/distributed/c10d/NCCLUtils.hpp:219, unhandled cuda error (run with NCCL_DEBUG=INFO "
        "for details), NCCL version 2.19.3\n"
        "ncclUnhandledCudaError: Call to CUDA function failed.",
    ),
    (
        "nccl-p2p-acs-iommu",
        "[rank1]:[E ProcessGroupNCCL.cpp:475] [Rank 1] Watchdog caught collective operation timeout: "
        "WorkNCCL(SeqNum=1, OpType=ALLREDUCE, NumelIn=1, NumelOut=1, Timeout(ms)=1800000) ran for 1800480 "
        "milliseconds before timing out.",
    ),
    (
        "nccl-shm",
        "node:100:150 [0] include/shm.h:28 NCCL WARN Call to posix_fallocate failed : No space left on device\n"
        "node:100:150 [0] NCCL INFO include/shm.h:41 -> 2\n"
        "node:100:150 [0] include/shm.h:48 NCCL WARN Error while creating shared memory segment "
        "nccl-shm-recv-a (size 9637888)\n"
        "RuntimeError: NCCL error in: ../torch/lib/c10d/ProcessGroupNCCL.cpp:492, unhandled system error, "
        "NCCL version 2.4.8",
    ),
    (
        "no-kernel-image",
        "CUDA error 209 at ggml-cuda.cu:6951: no kernel image is available for execution on the device\n"
        "current device: 0\n"
        "# Tesla K80",
    ),
    (
        "no-kernel-image",
        "error in correlation_forward_cuda_kernel: no kernel image is available for execution on the device",
    ),
    (
        "no-kernel-image",
        "error in modulated_deformable_im2col_cuda: no kernel image is available for execution on the device",
    ),
    (
        "no-nvidia-gpu",
        "AssertionError: Torch not compiled with CUDA enabled\n# MacBook Pro M1",
    ),
    (
        "not-a-gpu-problem",
        "Traceback (most recent call last):\n"
        '  File "train.py", line 5, in <module>\n'
        "    import cv2\n"
        "ModuleNotFoundError: No module named 'cv2'",
    ),
    (
        "not-a-gpu-problem",
        "ImportError: numpy.core.multiarray failed to import\n"
        "RuntimeError: module compiled against API version 0x10 but this version of numpy is 0xf",
    ),
    (
        "not-a-gpu-problem",
        "ERROR: Could not install packages due to an OSError: [Errno 28] No space left on device",
    ),
    (
        "not-a-gpu-problem",
        "ValueError: numpy.ndarray size changed, may indicate binary incompatibility. Expected 96 from C "
        "header, got 88 from PyObject",
    ),
    (
        "not-a-gpu-problem",
        "AttributeError: module 'numpy' has no attribute 'object'.\n`np.object` was a deprecated alias for the builtin `object`.",
    ),
    (
        "not-a-gpu-problem",
        "ModuleNotFoundError: No module named 'yaml'",
    ),
    (
        "not-a-gpu-problem",
        "RuntimeError: Expected all tensors to be on the same device, but found at least two devices, cuda:0 "
        "and cpu! (when checking argument for argument mat1 in method wrapper_CUDA_addmm)",
    ),
    (
        "not-a-gpu-problem",
        "requests.exceptions.ConnectionError: HTTPSConnectionPool(host='huggingface.co', port=443): Max "
        "retries exceeded with url: /gpt2/resolve/main/config.json",
    ),
    (
        "not-a-gpu-problem",
        "RuntimeError: Cannot re-initialize CUDA in forked subprocess. To use CUDA with multiprocessing, you "
        "must use the 'spawn' start method",
    ),
    (
        "nvidia-smi-no-devices",
        "nvidia-smi\n"
        "No devices were found\n"
        "lspci | grep -i nvidia\n"
        "03:00.0 3D controller: NVIDIA Corporation GP100GL [Tesla P100 PCIe 16GB] (rev a1)",
    ),
    (
        "profiler-counter-permission",
        "WARNING:2021-03-01 CUPTI initialization failed - CUDA profiler activities will be missing\n"
        "function cbapi->getCuptiStatus() failed with error CUPTI_ERROR_INSUFFICIENT_PRIVILEGES (35)",
    ),
    (
        "profiler-counter-permission",
        "2021-05-01 tensorflow/core/profiler/internal/gpu/cupti_tracer.cc:1487] CUPTI could not be loaded or "
        "symbol could not be found.\n"
        "E tensorflow/core/profiler/internal/gpu/cupti_tracer.cc:1408] function cupti_interface_->Subscribe( "
        "&subscriber_, (CUpti_CallbackFunc)ApiCallback, this)failed with error "
        "CUPTI_ERROR_INSUFFICIENT_PRIVILEGES",
    ),
    (
        "profiler-counter-permission",
        "==PROF== Connected to process 1234\n"
        "==ERROR== The user running <ncu> does not have permission to access NVIDIA GPU Performance Counters "
        "on the target device. For instructions on enabling permissions and to get more information see "
        "https://developer.nvidia.com/ERR_NVGPUCTRPERM",
    ),
    (
        "ptx-newer-than-driver",
        "numba.cuda.cudadrv.driver.LinkerError: [222] Call to cuLinkAddData results in UNKNOWN_CUDA_ERROR\n"
        "ptxas application ptx input, line 9; fatal   : Unsupported .version 7.8; current version is '7.4'",
    ),
    (
        "torch-cpu-only",
        "RuntimeError: Attempting to deserialize object on a CUDA device but torch.cuda.is_available() is "
        "False. If you are running on a CPU-only machine, please use torch.load with "
        "map_location=torch.device('cpu')\n"
        "PyTorch version: 2.1.0+cpu",
    ),
    (
        "torch-lacks-sm",
        "NVIDIA GeForce RTX 3090 with CUDA capability sm_86 is not compatible with the current PyTorch "
        "installation.\n"
        "The current PyTorch install supports CUDA capabilities sm_37 sm_50 sm_60 sm_70.\n"
        "RuntimeError: NCCL error in: ProcessGroupNCCL.cpp:784, unhandled cuda error, NCCL version 2.7.8",
    ),
)
