"""A driver that does not run, in the words of its installers and of the kernel, each paste with its cause."""

from __future__ import annotations

PASTES = (
    (
        "apt-nvidia-package-conflict",
        "The following packages have unmet dependencies:\n"
        " cuda-drivers-535 : Depends: nvidia-driver-535 (>= 535.54.03) but it is not going to be installed\n"
        " nvidia-dkms-535 : Depends: nvidia-kernel-common-535 (= 535.54.03-0ubuntu1) but "
        "535.113.01-0ubuntu0.22.04.3 is to be installed\n"
        "E: Unable to correct problems, you have held broken packages.",
    ),
    (
        "apt-nvidia-package-conflict",
        "dpkg: error processing archive "
        "/tmp/apt-dpkg-install-x/04-libnvidia-compute-460_460.39-0ubuntu0.20.04.1_amd64.deb (--unpack):\n"
        " trying to overwrite '/usr/lib/x86_64-linux-gnu/libnvidia-ml.so', which is also in package "
        "nvidia-cuda-dev 9.1.85-3ubuntu1",
    ),
    (
        "apt-nvidia-package-conflict",
        "Problem: package cuda-drivers-550.54.14-1.x86_64 requires nvidia-kmod >= 3:550.54.14, but none of "
        "the providers can be installed\n"
        "  - package nvidia-kmod-550 conflicts with akmod-nvidia provided by akmod-nvidia-3:545",
    ),
    (
        "cuda-installer-without-driver",
        "===========\n"
        "= Summary =\n"
        "===========\n"
        "Driver:   Not Selected\n"
        "Toolkit:  Installed in /usr/local/cuda-12.1/\n"
        "Please make sure that\n"
        " -   PATH includes /usr/local/cuda-12.1/bin\n"
        " -   LD_LIBRARY_PATH includes /usr/local/cuda-12.1/lib64, or, add /usr/local/cuda-12.1/lib64 to "
        "/etc/ld.so.conf and run ldconfig as root\n"
        "***WARNING: Incomplete installation! This installation did not install the CUDA Driver. A driver of "
        "version at least 530.00 is required for CUDA 12.1 functionality to work.",
    ),
    (
        "dkms-build-failed",
        "Setting up nvidia-dkms-470 (470.182.03-0ubuntu0.22.04.1) ...\n"
        "Building initial module for 6.2.0-26-generic\n"
        "ERROR (dkms apport): kernel package linux-headers-6.2.0-26-generic is not supported\n"
        "Error! Bad return status for module build on kernel: 6.2.0-26-generic (x86_64)\n"
        "Consult /var/lib/dkms/nvidia/470.182.03/build/make.log for more information.\n"
        "dpkg: error processing package nvidia-dkms-470 (--configure):",
    ),
    (
        "dkms-build-failed",
        "/var/lib/dkms/nvidia/340.108/build/nv-linux.h:115:10: fatal error: linux/smp_lock.h: No such file "
        "or directory\n"
        "make[1]: *** [/usr/src/linux-headers-6.1.0/Makefile:1853: /var/lib/dkms/nvidia/340.108/build] Error "
        "2",
    ),
    (
        "dkms-build-failed",
        "==> dkms install --no-depmod nvidia/525.85.05 -k 6.2.1-arch1-1\n"
        "Error! Bad return status for module build on kernel: 6.2.1-arch1-1 (x86_64)\n"
        "==> WARNING: `dkms install --no-depmod nvidia/525.85.05 -k 6.2.1-arch1-1' exited 10",
    ),
    (
        "driver-library-mismatch",
        "$ docker run --gpus all ubuntu nvidia-smi\n"
        "docker: Error response from daemon: failed to create task for container: OCI runtime create failed: "
        "runc create failed: nvidia-container-cli: initialization error: nvml error: driver/library version "
        "mismatch: unknown.",
    ),
    (
        "driver-library-mismatch",
        "NVRM: API mismatch: the client 'nvidia-smi' (pid 10204)\n"
        "NVRM: has the version 535.183.01, but this kernel module has\n"
        "NVRM: the version 535.171.04.  Please make sure that this\n"
        "NVRM: kernel module and all NVIDIA driver components\n"
        "NVRM: have the same version.",
    ),
    (
        "driver-library-mismatch",
        "2023-06-01 E tensorflow/stream_executor/cuda/cuda_diagnostics.cc:313] kernel version 470.182.3 does "
        "not match DSO version 525.105.17 -- cannot find working devices in this configuration",
    ),
    (
        "driver-not-loaded",
        "$ nvidia-smi\n"
        "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver. Make sure that the "
        "latest NVIDIA driver is installed and running.\n"
        "$ lsmod | grep nvidia\n"
        "$ dkms status\n"
        "nvidia/535.183.01, 6.5.0-41-generic, x86_64: installed\n"
        "$ uname -r\n"
        "6.8.0-40-generic",
    ),
    (
        "driver-not-loaded",
        "$ sudo modprobe nvidia\nmodprobe: FATAL: Module nvidia not found in directory /lib/modules/6.8.0-40-generic",
    ),
    (
        "driver-not-loaded",
        "$ sudo modprobe nvidia\nmodprobe: ERROR: could not insert 'nvidia': Exec format error",
    ),
    (
        "geforce-open-module-unsupported",
        "[    3.513141] NVRM: Open nvidia.ko is only ready for use on Data Center GPUs.\n"
        "[    3.513144] NVRM: To force use of Open nvidia.ko on other GPUs, see the\n"
        "[    3.513145] NVRM: 'OpenRmEnableUnsupportedGpus' kernel module parameter described\n"
        "[    3.513145] NVRM: in the README.\n"
        "[    3.824916] NVRM: GPU 0000:04:00.0: RmInitAdapter failed! (0x63:0x0:1905)\n"
        "[    3.827920] NVRM: GPU 0000:04:00.0: rm_init_adapter failed, device minor number 0",
    ),
    (
        "hybrid-graphics-prime",
        "$ nvidia-smi\n"
        "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver. Make sure that the "
        "latest NVIDIA driver is installed and running.\n"
        "$ prime-select query\n"
        "intel",
    ),
    (
        "kernel-headers-missing",
        "ERROR: Unable to find the kernel source tree for the currently running kernel.  Please make sure "
        "you have installed the kernel source files for your kernel and that they are properly configured; "
        "on Red Hat Linux systems, for example, be sure you have the 'kernel-source' or 'kernel-devel' RPM "
        "installed.",
    ),
    (
        "kernel-headers-missing",
        "Loading new nvidia-535.54.03 DKMS files...\n"
        "Building for 6.2.0-1012-gcp\n"
        "Building for architecture x86_64\n"
        "Module build for kernel 6.2.0-1012-gcp was skipped since the\n"
        "kernel headers for this kernel do not seem to be installed.",
    ),
    (
        "kernel-headers-missing",
        "==> dkms install --no-depmod nvidia/565.77 -k 6.12.1-arch1-1\n"
        "Error! Your kernel headers for kernel 6.12.1-arch1-1 cannot be found at "
        "/usr/lib/modules/6.12.1-arch1-1/build or /usr/lib/modules/6.12.1-arch1-1/source.\n"
        "Please install the linux-headers-6.12.1-arch1-1 package",
    ),
    (
        "kernel-headers-missing",
        "The kernel header file '/lib/modules/5.4.0-26-generic/build/include/linux/kernel.h' does not exist.\n"
        "ERROR: Unable to find the kernel source tree",
    ),
    (
        "legacy-driver-branch-needed",
        "[    8.8] NVRM: The NVIDIA GeForce GTX 780 GPU installed in this system is\n"
        "[    8.8] NVRM:  supported through the NVIDIA 470.xx Legacy drivers. Please\n"
        "[    8.8] NVRM:  visit http://www.nvidia.com/object/unix.html for more\n"
        "[    8.8] NVRM:  information.  The 535.129.03 NVIDIA driver will ignore\n"
        "[    8.8] NVRM:  this GPU.  Continuing probe...\n"
        "[    8.8] NVRM: No NVIDIA GPU found.",
    ),
    (
        "libcuda-missing",
        "| NVIDIA-SMI 470.57.02    Driver Version: 470.57.02    CUDA Version: N/A      |\n"
        "|   0  NVIDIA GeForce ...  Off  | 00000000:01:00.0 Off |                  N/A |\n"
        ">>> torch.cuda.is_available()\n"
        "RuntimeError: Found no NVIDIA driver on your system.",
    ),
    (
        "module-already-loaded",
        "ERROR: An NVIDIA kernel module 'nvidia-drm' appears to already be loaded in your kernel.  This may "
        "be because it is in use (for example, by an X server, a CUDA program, or the NVIDIA Persistence "
        "Daemon), but this may also happen if your kernel was configured without support for module "
        "unloading.\n"
        "ERROR: Installation has failed.  Please see the file '/var/log/nvidia-installer.log' for details.",
    ),
    (
        "module-already-loaded",
        "[INFO]: Driver installation detected by command: apt list --installed | grep -e "
        "nvidia-driver-[0-9][0-9][0-9] -e nvidia-[0-9][0-9][0-9]\n"
        "[ERROR]: Install of driver component failed. Consult the driver log at "
        "/var/log/nvidia-installer.log for more details.\n"
        "[ERROR]: Install of 560.35.03 failed, quitting",
    ),
    (
        "module-already-loaded",
        "$ sudo rmmod nvidia\n"
        "rmmod: ERROR: Module nvidia is in use by: nvidia_modeset\n"
        "$ sudo rmmod nvidia_drm\n"
        "rmmod: ERROR: Module nvidia_drm is in use",
    ),
    (
        "no-driver",
        "RuntimeError: Found no NVIDIA driver on your system. Please check that you have an NVIDIA GPU and "
        "installed a driver from http://www.nvidia.com/Download/index.aspx",
    ),
    (
        "no-driver",
        "2022-01-01 E tensorflow/stream_executor/cuda/cuda_driver.cc:271] failed call to cuInit: UNKNOWN "
        "ERROR (303)\n"
        "I tensorflow/stream_executor/cuda/cuda_diagnostics.cc:156] kernel driver does not appear to be "
        "running on this host (myhost): /proc/driver/nvidia/version does not exist",
    ),
    (
        "no-driver",
        '$ python -c "import torch; torch.cuda.init()"\n'
        "RuntimeError: Found no NVIDIA driver on your system. Please check that you have an NVIDIA GPU and "
        "installed a driver from http://www.nvidia.com/Download/index.aspx\n"
        "$ nvidia-smi\n"
        "Command 'nvidia-smi' not found, but can be installed with:\n"
        "sudo apt install nvidia-utils-390",
    ),
    (
        "no-driver",
        "ImportError: libcuda.so.1: cannot open shared object file: No such file or directory",
    ),
    (
        "nouveau-active",
        "$ nvidia-smi\n"
        "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver. Make sure that the "
        "latest NVIDIA driver is installed and running.\n"
        "$ lspci -nnk | grep -A3 VGA\n"
        "01:00.0 VGA compatible controller [0300]: NVIDIA Corporation TU116 [GeForce GTX 1660] [10de:2184] "
        "(rev a1)\n"
        "\tKernel driver in use: nouveau\n"
        "\tKernel modules: nvidiafb, nouveau",
    ),
    (
        "nouveau-active",
        "[ 5.1] NVRM: The NVIDIA probe routine was not called for 1 device(s).\n"
        "[ 5.1] NVRM: This can occur when a driver such as:\n"
        "[ 5.1] NVRM: nouveau, rivafb, nvidiafb or rivatv\n"
        "[ 5.1] NVRM: was loaded and obtained ownership of the NVIDIA device(s).\n"
        "[ 5.1] NVRM: No NVIDIA devices probed.",
    ),
    (
        "nouveau-active",
        "$ lsmod | grep nouveau\n"
        "nouveau              1949696  4\n"
        "$ nvidia-smi\n"
        "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver.",
    ),
    (
        "open-module-required",
        "NVRM: The NVIDIA GPU 0000:01:00.0 (PCI ID: 10de:2c05)\n"
        "NVRM: installed in this system requires use of the NVIDIA open kernel modules.\n"
        "NVRM: GPU 0000:01:00.0: RmInitAdapter failed! (0x22:0x56:884)\n"
        "nvidia-smi: No devices were found",
    ),
    (
        "open-module-required",
        "[ 3.1] NVRM: installed in this system requires use of the NVIDIA open kernel modules.\n"
        "[ 3.1] nvidia: probe of 0000:01:00.0 failed with error -1\n"
        "# RTX 5060 Ti, nvidia-driver-570 from Ubuntu",
    ),
    (
        "open-module-unsupported-gpu",
        "[ 1157.046099] NVRM: The NVIDIA GPU 0000:af:00.0 (PCI ID: 10de:1db5)\n"
        "               NVRM: installed in this system is not supported by open\n"
        "               NVRM: nvidia.ko because it does not include the required GPU\n"
        "               NVRM: System Processor (GSP).",
    ),
    (
        "secure-boot-unsigned-module",
        "$ nvidia-smi\n"
        "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver.\n"
        "$ sudo modprobe nvidia\n"
        "modprobe: ERROR: could not insert 'nvidia': Key was rejected by service\n"
        "$ mokutil --sb-state\n"
        "SecureBoot enabled",
    ),
    (
        "secure-boot-unsigned-module",
        "[   12.345678] Loading of module with unavailable key is rejected\n[   12.345] nvidia",
    ),
    (
        "secure-boot-unsigned-module",
        "ERROR: Unable to load the kernel module 'nvidia.ko'.  This happens most frequently when this kernel "
        "module was built against the wrong or improperly configured kernel sources\n"
        "ERROR: The kernel module failed to load. Secure boot is enabled on this system, so this is likely "
        "because it was not signed by a key that is trusted by the kernel. Please try installing the driver "
        "again, and sign the kernel module when prompted to do so.",
    ),
    (
        "secure-boot-unsigned-module",
        "# modprobe nvidia\nmodprobe: ERROR: could not insert 'nvidia_current': Required key not available",
    ),
    (
        "secure-boot-unsigned-module",
        "$ sudo insmod nvidia.ko\ninsmod: ERROR: could not insert module nvidia.ko: Key was rejected by service",
    ),
)
