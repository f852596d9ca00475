"""A card or a device that fails as it is pasted, each with its cause."""

from __future__ import annotations

PASTES = (
    (
        "cuda-compat-conflict",
        "UserWarning: CUDA initialization: Unexpected error from cudaGetDeviceCount(). Error 804: forward "
        "compatibility was attempted on non supported HW (Triggered internally at "
        "../c10/cuda/CUDAFunctions.cpp:108.)\n"
        "# nvcr.io/nvidia/pytorch:22.12-py3 on a RTX 2080",
    ),
    (
        "cuda-init-failed-driver-state",
        "UserWarning: CUDA initialization: CUDA driver initialization failed, you might not have a CUDA gpu. "
        "(Triggered internally at ../c10/cuda/CUDAFunctions.cpp:109.)\n"
        "  return torch._C._cuda_getDeviceCount() > 0\n"
        "| NVIDIA-SMI 525.105.17   Driver Version: 525.105.17   CUDA Version: 12.0     |",
    ),
    (
        "ecc-errors",
        "RuntimeError: CUDA error: uncorrectable ECC error encountered\n"
        "CUDA kernel errors might be asynchronously reported at some other API call, so the stacktrace below "
        "might be incorrect.",
    ),
    (
        "ecc-errors",
        "NVRM: Xid (PCI:0000:b7:00): 48, pid=21, name=python, An uncorrectable double bit error (DBE) has "
        "been detected on GPU in the framebuffer at partition 5, subpartition 0.\n"
        "NVRM: Xid (PCI:0000:b7:00): 63, pid=21, name=python, Row Remapper: New row (0x00) marked for "
        "remapping, reset gpu to activate.\n"
        "NVRM: Xid (PCI:0000:b7:00): 94, pid=21, name=python, Contained: ...\n"
        "NVRM: Xid (PCI:0000:b7:00): 45, pid=21, name=python",
    ),
    (
        "ecc-errors",
        "    Remapped Rows\n"
        "        Correctable Error                 : 0\n"
        "        Uncorrectable Error               : 8\n"
        "        Pending                           : No\n"
        "        Remapping Failure Occurred        : Yes",
    ),
    (
        "fabric-manager-not-running",
        "UserWarning: CUDA initialization: Unexpected error from cudaGetDeviceCount(). Did you run some cuda "
        "functions before calling NumCudaDevices() that might have already set an error? Error 802: system "
        "not yet initialized (Triggered internally at /opt/pytorch/c10/cuda/CUDAFunctions.cpp:108.)",
    ),
    (
        "fabric-manager-not-running",
        "$ systemctl status nvidia-fabricmanager\n"
        "nvidia-fabricmanager.service: Failed with result 'exit-code'.\n"
        "fabric manager NVIDIA GPU driver interface version 470.57.02 don't match with driver version "
        "470.82.01. Please update with matching NVIDIA driver package.",
    ),
    (
        "gpu-overheating",
        "the machine shuts down under load; nvidia-smi showed 98C just before\n"
        "# RTX 3090, fans clogged with dust, thermal shutdown",
    ),
    (
        "gpu-sensor-error",
        "|   2  NVIDIA GeForce RTX 3090    Off  | 00000000:82:00.0 Off |                  N/A |\n"
        "|ERR!   36C    P8   ERR! / 350W |      0MiB / 24576MiB |      0%      Default |",
    ),
    (
        "mig-mode",
        "|   0  NVIDIA A100-SXM4-80GB           Off| 00000000:40:00.0 Off |                   On |\n"
        "| N/A   27C    P0               31W / 400W|      0MiB / 81920MiB |     N/A      Default |\n"
        "|                                         |                      |              Enabled |\n"
        "|  No MIG devices found                                                                 |\n"
        ">>> torch.cuda.is_available()\n"
        "False",
    ),
    (
        "rm-init-adapter-failed",
        "[   25.1] NVRM: GPU 0000:0b:00.0: RmInitAdapter failed! (0x26:0x65:1401)\n"
        "[   25.1] NVRM: GPU 0000:0b:00.0: rm_init_adapter failed, device minor number 0\n"
        "$ nvidia-smi\n"
        "No devices were found",
    ),
    (
        "rm-init-adapter-failed",
        "NVRM: RmInitAdapter failed! (0x31:0xffff:2541)\n"
        "NVRM: rm_init_adapter failed, device minor number 1\n"
        "kernel: nvidia 0000:0a:00.0: Direct firmware load for nvidia/545.23.06/gsp_tu10x.bin failed with "
        "error -2",
    ),
    (
        "uvm-broken-after-suspend",
        "UserWarning: CUDA initialization: CUDA unknown error - this may be due to an incorrectly set up "
        "environment, e.g. changing env variable CUDA_VISIBLE_DEVICES after program start. Setting the "
        "available devices to be zero. (Triggered internally at ../c10/cuda/CUDAFunctions.cpp:108.)\n"
        "  return torch._C._cuda_getDeviceCount() > 0\n"
        "# worked before I closed the laptop lid",
    ),
    (
        "uvm-broken-after-suspend",
        "ggml_cuda_init: failed to initialize CUDA: unknown error\n"
        "# llama.cpp, works again after reboot; the machine was suspended overnight",
    ),
    (
        "uvm-broken-after-suspend",
        'level=INFO msg="unable to load CUDA driver library" library=/usr/lib/libcuda.so.550.54.14 '
        'error="cuda driver library init failure: 999"\n'
        "# ollama after resume from suspend",
    ),
    (
        "uvm-broken-after-suspend",
        "RuntimeError: cuda runtime error (999) : unknown error at ../aten/src/THC/THCGeneral.cpp:47\n"
        "nvidia-smi looks fine; the notebook was in sleep mode",
    ),
    (
        "uvm-device-missing",
        "$ ls /dev/nvidia*\n"
        "/dev/nvidia0  /dev/nvidiactl  /dev/nvidia-modeset\n"
        ">>> torch.cuda.is_available()\n"
        "CUDA initialization: CUDA unknown error - this may be due to an incorrectly set up environment",
    ),
    (
        "xid-119-gsp-timeout",
        "[ 6435.3] NVRM: GPU at PCI:0000:3b:00: GPU-3...\n"
        "[ 6435.3] NVRM: Xid (PCI:0000:3b:00): 119, pid=12345, name=python3, Timeout after 6s of waiting for "
        "RPC response from GPU0 GSP! Expected function 76 (GSP_RM_CONTROL) (0x20801348 0x410).\n"
        "$ nvidia-smi\n"
        "No devices were found",
    ),
    (
        "xid-119-gsp-timeout",
        "NVRM: _kgspLogXid119: ********************************* GSP Timeout "
        "**********************************\n"
        "NVRM: _kgspLogXid119: Note: Please also check logs above.\n"
        "NVRM: GPU at PCI:0000:01:00: GPU-8b\n"
        "NVRM: Xid (PCI:0000:01:00): 119, pid=2010, name=nvidia-modeset/, Timeout after 6s of waiting for "
        "RPC response from GPU0 GSP!",
    ),
    (
        "xid-13-31-application-fault",
        "NVRM: Xid (PCI:0000:01:00): 31, pid=1893, name=python, Ch 00000008, intr 00000000. MMU Fault: "
        "ENGINE GRAPHICS GPCCLIENT_T1_2 faulted @ 0x7f52_96a00000. Fault is of type FAULT_PDE "
        "ACCESS_TYPE_VIRT_READ\n"
        "RuntimeError: CUDA error: an illegal memory access was encountered",
    ),
    (
        "xid-13-31-application-fault",
        "NVRM: Xid (PCI:0000:01:00): 43, pid=3121, Ch 00000010\n"
        "NVRM: Xid (PCI:0000:01:00): 13, pid=3121, Graphics Exception: ESR 0x404490=0x80000001",
    ),
    (
        "xid-13-31-application-fault",
        "[Tue] NVRM: Xid (PCI:0000:41:00): 31, pid=1, name=ffmpeg, Ch 0000000a, intr 00000000. MMU Fault: ENGINE NVDEC0",
    ),
    (
        "xid-63-row-remap",
        "NVRM: Xid (PCI:0000:b7:00): 63, pid='<unknown>', name=<unknown>, Row Remapper: New row "
        "(0x0000000001db7) marked for remapping, reset gpu to activate.",
    ),
    (
        "xid-63-row-remap",
        "    Remapped Rows\n"
        "        Correctable Error                 : 0\n"
        "        Uncorrectable Error               : 1\n"
        "        Pending                           : Yes\n"
        "        Remapping Failure Occurred        : No",
    ),
    (
        "xid-79-gpu-fell-off-bus",
        "[74889.644112] NVRM: GPU at PCI:0000:02:00: GPU-660d987e-5b28-3bf6-2a2d-1d5ecae7f6df\n"
        "[74889.644138] NVRM: Xid (PCI:0000:02:00): 79, GPU has fallen off the bus.\n"
        "[74889.644191] NVRM: GPU at 0000:02:00.0 has fallen off the bus.\n"
        "[74889.644191] NVRM: A GPU crash dump has been created. If possible, please run\n"
        "NVRM: nvidia-bug-report.sh as root",
    ),
    (
        "xid-79-gpu-fell-off-bus",
        "$ nvidia-smi\nUnable to determine the device handle for GPU 0000:41:00.0: Unknown Error",
    ),
    (
        "xid-79-gpu-fell-off-bus",
        "Nov  3 02:11:05 gpu1 kernel: [1234.5] NVRM: GPU at PCI:0000:86:00: GPU-1a2b\n"
        "Nov  3 02:11:05 gpu1 kernel: [1234.5] NVRM: Xid (PCI:0000:86:00): 79, pid=4242, GPU has fallen off "
        "the bus.\n"
        "Nov  3 02:11:06 gpu1 kernel: [1235.5] NVRM: Xid (PCI:0000:86:00): 154, GPU recovery action changed "
        "from 0x0 (None) to 0x2 (Node Reboot Required)\n"
        "RuntimeError: CUDA error: unspecified launch failure",
    ),
)
