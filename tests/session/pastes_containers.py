"""A GPU that does not reach a container or WSL as it is pasted, each with its cause."""

from __future__ import annotations

PASTES = (
    (
        "container-driver-files-mounted",
        "docker: Error response from daemon: OCI runtime create failed: container_linux.go:380: starting "
        "container process caused: process_linux.go:545: container init caused: Running hook #0:: error "
        "running hook: exit status 1, stdout: , stderr: nvidia-container-cli: mount error: file creation "
        "failed: /var/lib/docker/overlay2/5ab/merged/usr/lib/x86_64-linux-gnu/libnvidia-ml.so.1: file "
        "exists: unknown.",
    ),
    (
        "container-driver-too-old",
        "nvidia-container-cli: requirement error: unsatisfied condition: cuda>=11.6, please update your "
        "driver to a newer version, or use an earlier cuda container: unknown.\n"
        "$ nvidia-smi\n"
        "| NVIDIA-SMI 470.103.01   Driver Version: 470.103.01   CUDA Version: 11.4     |",
    ),
    (
        "container-driver-too-old",
        "==ERROR== This container was built for NVIDIA Driver Release 530.30 or later, but\n"
        "          version 470.161.03 was detected and compatibility mode is UNAVAILABLE.\n"
        "          [[System has unsupported display driver / cuda driver combination "
        "(CUDA_ERROR_SYSTEM_DRIVER_MISMATCH) cuInit()=803]]",
    ),
    (
        "container-lost-gpu-after-daemon-reload",
        "root@098b49afe624:/# nvidia-smi\n"
        "Failed to initialize NVML: Unknown Error\n"
        "# container worked for some hours; host nvidia-smi is fine",
    ),
    (
        "container-lost-gpu-after-daemon-reload",
        "pod log: Failed to initialize NVML: Unknown Error\n"
        "torch.cuda.is_available() returned True at start, False after 2 hours. kubernetes 1.24, cgroup v2",
    ),
    (
        "container-no-gpu-flag",
        '$ docker run -it pytorch/pytorch:2.1.0-cuda12.1-cudnn8-runtime python -c "import torch; '
        'torch.zeros(1).cuda()"\n'
        "RuntimeError: Found no NVIDIA driver on your system. Please check that you have an NVIDIA GPU and "
        "installed a driver",
    ),
    (
        "container-no-gpu-flag",
        "root@4f2:/workspace# nvidia-smi\nbash: nvidia-smi: command not found\n# docker run -it nvcr.io/nvidia/pytorch:23.10-py3",
    ),
    (
        "container-no-gpu-flag",
        'docker run -it --rm tensorflow/tensorflow:latest-gpu python -c "import tensorflow as tf; '
        "print(tf.config.list_physical_devices('GPU'))\"\n"
        "E tensorflow/stream_executor/cuda/cuda_driver.cc:271] failed call to cuInit: UNKNOWN ERROR (34)\n"
        "[]",
    ),
    (
        "container-no-gpu-flag",
        "ImportError: libcuda.so.1: cannot open shared object file: No such file or directory\n"
        "# docker build step: RUN python setup.py",
    ),
    (
        "container-toolkit-missing",
        'Error response from daemon: Cannot start container: could not select device driver "nvidia" with '
        "capabilities: [[compute utility]]",
    ),
    (
        "container-toolkit-missing",
        "docker: Error response from daemon: unknown or invalid runtime name: nvidia.\nSee 'docker run --help'.",
    ),
    (
        "container-toolkit-missing",
        "docker: Error response from daemon: failed to create shim task: OCI runtime create failed: unable "
        "to retrieve OCI runtime error (open /run/containerd/io.containerd.runtime.v2.task/moby/1/log.json: "
        'no such file or directory): exec: "nvidia-container-runtime": executable file not found in $PATH: '
        "unknown.",
    ),
    (
        "container-toolkit-missing",
        "podman run --device nvidia.com/gpu=all ubuntu nvidia-smi\n"
        "Error: setting up CDI devices: unresolvable CDI devices nvidia.com/gpu=all",
    ),
    (
        "container-toolkit-missing",
        "docker-compose up\nERROR: for app  Cannot create container for service app: Unknown runtime specified nvidia",
    ),
    (
        "device-permissions",
        "$ nvidia-smi\n"
        "Failed to initialize NVML: Insufficient Permissions\n"
        "$ sudo nvidia-smi\n"
        "| NVIDIA-SMI 535.129.03             Driver Version: 535.129.03   CUDA Version: 12.2     |",
    ),
    (
        "device-permissions",
        "$ nvidia-smi\n"
        "Failed to initialize NVML: Insufficient Permissions\n"
        "$ ls -l /dev/nvidia0\n"
        "crw-rw---- 1 root video 195, 0 /dev/nvidia0",
    ),
    (
        "wsl-driver-or-windows",
        "PS C:\\> wsl\n"
        "$ docker compose --profile auto up --build\n"
        "nvidia-container-cli: initialization error: load library failed: libnvidia-ml.so.1: cannot open "
        "shared object file: no such file or directory: unknown\n"
        "I'm using WSL2 (latest Docker Desktop). Windows 10 Pro 20H2",
    ),
    (
        "wsl-driver-or-windows",
        "RuntimeError: CUDA error: out of memory? no\n"
        "nvidia-smi in WSL2: Failed to initialize NVML: GPU access blocked by the operating system\n"
        "Failed to properly shut down NVML: GPU access blocked by the operating system",
    ),
    (
        "wsl-driver-or-windows",
        "(WSL2 Ubuntu 20.04) RuntimeError: No CUDA GPUs are available\nnvidia-smi works in Windows",
    ),
    (
        "wsl-linux-driver-installed",
        "$ nvidia-smi\n"
        "Failed to initialize NVML: Driver/library version mismatch\n"
        "$ uname -r\n"
        "5.15.90.1-microsoft-standard-WSL2\n"
        "$ sudo apt install nvidia-cuda-toolkit",
    ),
    (
        "wsl-linux-driver-installed",
        "In WSL2 I ran: sudo apt install nvidia-driver-510\n"
        "$ nvidia-smi\n"
        "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver. Make sure that the "
        "latest NVIDIA driver is installed and running.",
    ),
    (
        "wsl-stub-lib",
        "(wsl2) $ python -c 'import torch; print(torch.cuda.is_available())'\nError 34: CUDA driver is a stub library",
    ),
)
