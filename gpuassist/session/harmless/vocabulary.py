"""Words that many machines have, so that they tell nobody: of products, distributions, folders, programs and settings.

Whatever is not here is left out of a report: a word too few costs its reader a little, a word too many could cost its user a lot.
"""

from __future__ import annotations

from gpuassist.shellfiles.statements import WATCHED


def set_of(words: str) -> frozenset[str]:
    """The words of a block of them."""
    return frozenset(words.split())


# Folders and files that systems, Python and CUDA make themselves, or that thousands of users call so.
FOLDERS = set_of(
    """
    . .. ~ dmi id product_name product_version sys_vendor chassis_type board_name board_vendor pypi simple bin sbin lib
    lib32 lib64 libx32 libexec usr local opt etc var run tmp dev proc sys boot srv mnt media home root share include src
    cache spool state log logs init.d default alternatives modules kernel drivers updates dkms extra extramodules
    extra-drivers weak-updates misc video firmware nvidia nvidia-current nvidia-driver nvidia-open nouveau module devices
    bus pci driver drm power runtime_status current_link_speed current_link_width max_link_speed max_link_width device
    vendor class efi efivars params version gpus information registry parameters suspend_stats success osrelease arch cgroup
    fd comm status stat cmdline environ meminfo loadavg mounts hostname random boot_id self tty1 x86_64-linux-gnu
    aarch64-linux-gnu i386-linux-gnu x86_64-linux aarch64-linux sbsa-linux targets stubs compat nvvm crt host_config.h
    version.json version.txt nvcc nvlink ptxas cicc libnvvp extras cupti nsight-compute nsight-systems doc docs samples
    libdevice cuda wsl site-packages dist-packages python python2 python3 python-exec pip pip3 conda mamba micromamba uv
    pipx poetry pyenv versions shims envs pkgs conda-meta history base miniconda miniconda3 anaconda anaconda3 miniforge
    miniforge3 mambaforge mambaforge3 virtualenvs venvs .virtualenvs .venv venv env .env .conda .local .cache .config .pyenv
    .nvm .cargo .ssh .bashrc .bash_profile .bash_login .bash_aliases .profile .zshrc .zshenv .zprofile .zlogin .kshrc .login
    .cshrc .tcshrc .inputrc .pam_environment bash.bashrc bashrc profile profile.d environment environment.d zshrc zshenv zsh
    zprofile fish config.fish conf.d fish_variables functions login.defs passwd group shadow os-release lsb-release
    debian_version .dockerenv dockerenv ld.so.conf ld.so.conf.d ld.so.cache ld.so.preload cuda.conf modprobe.d modprobe.conf
    modules-load.d dracut.conf dracut.conf.d mkinitcpio.conf mkinitcpio.conf.d mkinitcpio.d initramfs-tools initcpio grub
    grub.d grub.cfg grub2 grubenv loader entries loader.conf cdi nvidia.yaml nvidia-container-runtime
    nvidia-container-toolkit config.toml docker daemon.json containers podman apt apt.conf apt.conf.d 20auto-upgrades
    50unattended-upgrades sources.list sources.list.d preferences preferences.d trusted.gpg.d keyrings dnf dnf.conf yum
    yum.conf yum.repos.d versionlock.list plugins pacman pacman.conf pacman.d zypp zypper locks zypp.conf repos.d rpm
    rpmdb.sqlite dpkg info available list lists history.log term.log dpkg.log dnf.log dnf.rpm.log pacman.log installed
    sysimage ostree deploy blacklist.conf blacklist-nouveau.conf nvidia.conf nvidia-graphics-drivers.conf
    nvidia-graphics-drivers-kms.conf nvidia-installer-disable-nouveau.conf nvidia-kernel-common.conf
    nvidia-blacklists-nouveau.conf graphics_drivers.conf disable-nouveau.conf nouveau.conf vfio.conf nvidia-uninstall
    nvidia-smi nvidia-settings nvidia-modprobe nvidia-persistenced nv-fabricmanager fabricmanager nvidia-fabricmanager
    nv_tegra_release device-tree compatible tegra systemd system system.conf user.conf system-sleep sessions bash sh dash
    ksh tcsh csh nologin false true login getty make.log build.log gcc g++ cc c++ clang clang++ cpp ld ldd ccache
    python-config torch torchvision torchaudio torchgen functorch triton caffe2 xformers vllm flash_attn flash-attn apex
    cupy jax jaxlib tensorflow onnxruntime bitsandbytes transformers accelerate numpy scipy cudnn cublas cuda_runtime
    cuda_nvrtc cuda_cupti cufft curand cusolver cusparse cusparselt nccl nvtx nvjitlink nvshmem cufile cuda_nvcc nvrtc
    cuda_cccl tensorrt _C version.py __init__.py functional.py pyvenv.cfg pip.conf uv.toml .condarc condarc pyproject.toml
    activate activate.d deactivate.d requirements.txt workspace workspaces work works project projects code repos repository
    git source data datasets models downloads desktop documents scratch shared nfs nas ssd nvme hdd disk storage apps app
    applications software tools test tests user users public opt-local container jupyter notebooks kernels comfyui
    stable-diffusion-webui ollama text-generation-webui mok mokutil alternatives.log realtime build reboot-required
    reboot-required.pkgs nvidia-peermem gdrcopy acpi rw lowlatency hybrid slots physical_slot current pkgconfig cmake ocl
    opencl vulkan icd.d egl glvnd egl_vendor.d X11 xorg.conf xorg.conf.d Xorg.0.log nix store profiles per-user guix gnu
    flatpak snap snapd linuxbrew .linuxbrew homebrew Cellar modulefiles easybuild spack lmod cm hpc-sdk hpc_sdk Linux_x86_64
    math_libs comm_libs compilers REDIST cuda-toolkit nvidia-cuda-toolkit ProgramData Users Windows System32 c d wslg wslu
    dxg lxss
    """
)
# Programs, by the name of their file.
PROGRAMS = set_of(
    """
    python python2 python3 bash sh zsh fish dash Xorg Xwayland gnome-shell kwin_x11 kwin_wayland plasmashell sddm gdm gdm3
    gdm-x-session lightdm cinnamon mutter weston sway hyprland Hyprland steam steamwebhelper firefox chrome chromium code
    cursor pycharm obs blender ollama ollama_llama_server llama-server llama-cli vllm sglang comfyui jupyter jupyter-lab
    jupyter-notebook ipython ipykernel_launcher torchrun accelerate deepspeed ray mpirun nvidia-smi nvidia-settings
    nvidia-persistenced nvidia-modprobe nvidia-powerd nv-fabricmanager nvtop nvitop gpustat btop htop top dcgm dcgmi
    nv-hostengine nvidia-cuda-mps-control nvidia-cuda-mps-server cuda-gdb ncu nsys docker dockerd containerd podman runc
    systemd sshd tmux screen node java nvcc gcc g++ clang clang++ cc c++ cmake make ninja ffmpeg vlc mpv gpuassist slurmd
    slurmstepd kubelet tritonserver tensorboard wandb-service pip pip3 uv uvx conda mamba micromamba pipx poetry apt apt-get
    dpkg aptitude dnf dnf5 yum rpm pacman yay paru zypper packagekitd packagekit unattended-upgrades unattended-upgrade
    discover gnome-software muon synaptic update-manager rpm-ostree akmods dkms mokutil update-initramfs dracut mkinitcpio
    grub-install depmod modprobe insmod ldconfig nvidia-installer nvidia-uninstall
    """
)
USERS = set_of(
    """
    root gdm sddm lightdm ollama nvidia-persistenced nobody daemon messagebus www-data docker jupyter
    """
)
USERS_OF_SYSTEM_BELOW = 1000
"""User numbers that distributions give to services (login.defs, SYS_UID_MAX)."""

# Words of facts and of where they were read.
WORDS = set_of(
    """
    of and were read a an at by for from in is it its no none not nothing on or that the this to was with without yes new
    own found known unknown uid environments else database then shared library uninitialized pip_* uv_* conda_* asked
    because would wake has have shows device devices wheels runpath are only could be looked too older than newer here there
    nvidia nvml pci pcie id gpu gpus cuda driver drivers module modules kernel file name names output line lines terminal
    environment gpuassist's gpuassist home directory path variable shell shells login interactive loaded unloaded blacklist
    install options alias softdep remove off true false default auto enabled disabled compute graphics video utility display
    ngx compat32 all void exclusive process processes thread prohibited heat power brake cycle start reset reboot drain started
    completed progress idle active asleep dual mit/gpl gpl bsd proprietary open closed hang sigsegv sigabrt sigbus geforce
    rtx gtx gt gts titan quadro tesla grid jetson orin nano xavier thor agx nx laptop max-q super ti mobile desktop
    workstation server edition nvgpu pro ada generation lovelace blackwell hopper ampere turing volta pascal maxwell kepler
    fermi sxm sxm2 sxm3 sxm4 sxm5 nvl nvlink hbm2 hbm2e hbm3 hbm3e founders d v x linux gnu gnu/linux ubuntu debian fedora
    arch manjaro endeavouros cachyos garuda nobara bazzite bluefin aurora silverblue kinoite rocky almalinux alma centos
    stream rhel red hat enterprise oracle ol amzn amazon opensuse opensuse-tumbleweed opensuse-leap tumbleweed leap suse
    sles sled slowroll mint linuxmint pop pop!_os zorin elementary neon kde tuxedo nixos gentoo alpine azurelinux mariner
    azure kali raspbian deepin uos kylin openeuler anolis slackware mageia solus artix proxmox pve lts bookworm trixie forky
    bullseye buster sid noble jammy focal bionic oracular plucky questing resolute mantic lunar kinetic core cloud rawhide
    slim docker lxc podman containerd kubernetes systemd-nspawn wsl apptainer singularity incus x86_64 aarch64 sbsa arm64
    amd64 ppc64le i686 riscv64 aws gcp lambda paperspace runpod vast hetzner ovh scaleway alibaba tencent kvm qemu vmware
    virtualbox hyper-v xen google engine ec2 microsoft corporation inc. inc ltd ltd. co. co asustek computer asus micro-star
    international msi gigabyte technology asrock supermicro dell hp hewlett-packard hewlett packard lenovo thinkpad
    thinkstation legion acer razer alienware precision proliant dgx hgx system76 framework pip uv conda venv pyenv system
    local package wheel poetry installer binary pc standard bios uefi secure boot signing key signature signed ca canonical
    certificate dkms akmods mok gcc g++ clang clang++ cc c++ nvcc nvidia-smi python python3 ldconfig modinfo uname lspci
    dpkg rpm apt dnf pacman zypper permission denied operation permitted such exists read-only input/output error timed out
    time limit expandable_segments max_split_size_mb garbage_collection_threshold roundup_power2_divisions backend native
    cudamallocasync pinned_use_cuda_host_register pci_bus_id fastest_first lazy eager utf-8 bash zsh fish dash ksh sh
    preservevideomemoryallocations excludedgpus temporaryfilepath modifydevicefiles enablegpufirmware
    openrmenableunsupportedgpus enablepciegen3 usepageattributetable initializesystemmemoryallocations
    enables0ixpowermanagement dynamicpowermanagement registrydwords nouveau nvidiafb nvidia_drm nvidia_uvm nvidia_modeset
    nvidia-drm nvidia-uvm nvidia-modeset nvidia_current nvidia-current vfio-pci nova_core i915 amdgpu modeset=1 modeset=0
    fbdev=1 --version --list-gpu-arch -dumpfullversion -dumpversion -l -i -c -lc -v -q --query dnf-automatic packagekit
    unattended-upgrades apt-daily-upgrade autoinstaller dkms.service akmods.service nvidia-persistenced.service
    ollama.service docker.service gdm.service sddm.service lightdm.service jupyter.service nvidia-fabricmanager.service
    display-manager.service pages compat not_set quick full cpu rocm xpu fp16 fp32 fp64 bf16 tf32 fp8 int8 int32 int64
    float16 bfloat16 float32 float64 complex64 complex128
    """
)
# Of packages of distributions, each a part of a name between hyphens.
PACKAGE_PARTS = set_of(
    """
    nvidia libnvidia driver drivers utils compute graphics server open dkms kernel modules objects signatures common source
    firmware settings prime persistenced modprobe gl egl glcore wayland extra cfg decode encode fbc1 ifr1 opencl icd libs
    lib32 lib64 devel dev cuda toolkit nvcc cudart runtime libraries compat keyring repo local network config meta
    open-kernel akmod kmod xorg x11 drv video xserver smi current legacy tesla beta vulkan vaapi container container1 tools
    base docker docker2 fabricmanager imex peermem gds nvlink5 nscq nvsdm libnvsdm linux image headers generic lowlatency
    hwe edge oem aws azure gcp gke gkeop oracle ibm kvm virtual raspi tegra lts zen hardened rt cachyos amd64 arm64 cloud
    unsigned signed core matched partner internal uek default preempt longterm debug azure-fde pve proxmox microsoft
    standard wsl2 fc el fedora rhel module stream cudnn libcudnn libcudnn8 libcudnn9 libnccl libnccl2 nccl tensorrt
    libcublas cublas cufft curand cusolver cusparse cusparselt cutensor npp nvjpeg nvrtc nvtx nvml cupti cccl crt nvvm
    libcuda1 libcuda libcudadebugger1 libnvcuvid1 libnvoptix1 libxnvctrl0 gcc g++ gxx cpp clang llvm build essential glibc
    libc6 libstdc++6 stdc++ python python3 pip venv torch pytorch ostree deployment shim mokutil grub grub2 efi dracut
    initramfs mkinitcpio akmods mesa xwayland egl-wayland supergfxctl optimus manager bumblebee primus release files g04 g05
    g06 g07 kmp cli headless no 32bit i386 x86_64 aarch64 bin all data doc minimal big demo documentation samples nsight
    systems gdb sanitizer command line visual ubuntu alternative installer cleanup
    """
)
# Python packages whose names tell nothing; those that the tables name come with them.
PYTHON_PACKAGES = set_of(
    """
    torch torchvision torchaudio torchtext torchdata torchao triton pytorch pytorch-cuda pytorch-mutex pytorch-gpu
    pytorch-cpu libtorch pytorch-triton numpy scipy pandas pillow setuptools wheel pip packaging jinja2 networkx sympy
    mpmath fsspec filelock typing-extensions python cuda-version accelerate transformers diffusers datasets tokenizers
    safetensors huggingface-hub peft trl timm lightning pytorch-lightning torchmetrics lightning-fabric fastai monai kornia
    open-clip-torch sentence-transformers ultralytics openai-whisper whisperx demucs compressed-tensors bitsandbytes
    xformers flash-attn vllm sglang deepspeed apex onnx onnxruntime onnxruntime-gpu tensorrt tensorrt-cu12 tensorrt-cu13
    torch-tensorrt ray outlines xgrammar auto-gptq autoawq optimum exllamav2 llama-cpp-python ctranslate2 faster-whisper
    einops torch-geometric torch-scatter torch-sparse torch-cluster dgl gsplat nerfstudio pytorch3d detectron2 mmcv mmengine
    mmdet spconv facexlib gfpgan basicsr realesrgan spandrel comfyui easyocr encodec julius clip k-diffusion tensorboard
    tensorflow jax jaxlib cupy opacus captum botorch gpytorch pyro-ppl skorch stable-baselines3 torchsde torchdiffeq torchrl
    torchsnapshot
    """
)
# Variables that decide which GPU software is used, beside those that start-up files are watched for.
VARIABLES = frozenset(WATCHED) | set_of(
    """
    LD_PRELOAD CUDAHOSTCXX CC CXX VIRTUAL_ENV CONDA_PREFIX CONDA_DEFAULT_ENV PYENV_ROOT PYENV_VERSION UV_TORCH_BACKEND
    PYTHONPATH PYTHONNOUSERSITE XDG_CONFIG_HOME CONDARC CONDA_CHANNELS CONDA_OVERRIDE_CUDA CONDA_OFFLINE PIP_CONFIG_FILE
    PIP_INDEX_URL PIP_EXTRA_INDEX_URL PIP_FIND_LINKS PIP_NO_INDEX PIP_CONSTRAINT UV_CONFIG_FILE UV_NO_CONFIG
    UV_DEFAULT_INDEX UV_INDEX_URL UV_INDEX UV_EXTRA_INDEX_URL UV_FIND_LINKS UV_OFFLINE UV_CONSTRAINT NVCC_CCBIN
    NVCC_APPEND_FLAGS NVCC_PREPEND_FLAGS NVIDIA_VISIBLE_DEVICES NVIDIA_DRIVER_CAPABILITIES NVIDIA_TF32_OVERRIDE
    NVIDIA_REQUIRE_CUDA NVIDIA_DISABLE_REQUIRE CUDA_LAUNCH_BLOCKING CUDA_MODULE_LOADING CUDA_CACHE_DISABLE CUDA_CACHE_PATH
    CUDA_CACHE_MAXSIZE CUDA_FORCE_PTX_JIT CUDA_DISABLE_PTX_JIT CUDA_DEVICE_MAX_CONNECTIONS CUDA_MPS_PIPE_DIRECTORY
    CUDA_MPS_LOG_DIRECTORY CUDA_AUTO_BOOST CUDA_DEVICE_WAITS_ON_EXCEPTION CUDA_MANAGED_FORCE_DEVICE_ALLOC CUDA_VERSION
    PYTORCH_CUDA_ALLOC_CONF PYTORCH_ALLOC_CONF PYTORCH_NO_CUDA_MEMORY_CACHING PYTORCH_NVML_BASED_CUDA_CHECK
    PYTORCH_NVFUSER_DISABLE PYTORCH_JIT PYTORCH_VERSION TORCH_CUDA_ARCH_LIST TORCH_HOME TORCH_EXTENSIONS_DIR
    TORCH_USE_CUDA_DSA TORCH_CUDNN_V8_API_DISABLED TORCH_LOGS TORCH_DISTRIBUTED_DEBUG TORCH_SHOW_CPP_STACKTRACES
    TORCH_NCCL_ASYNC_ERROR_HANDLING TORCH_ALLOW_TF32_CUBLAS_OVERRIDE TORCH_COMPILE_DISABLE
    """
)
LISTS_OF_PLACES = frozenset(name for name in VARIABLES if name.endswith("PATH") and name not in {"CUDA_PATH", "CUDNN_PATH"}) | {
    "LD_PRELOAD"
}
# Where packages come from for everybody.
HOSTS = set_of(
    """
    pypi.org files.pythonhosted.org download.pytorch.org download-r2.pytorch.org pypi.nvidia.com pypi.ngc.nvidia.com
    developer.download.nvidia.com nvidia.github.io conda.anaconda.org repo.anaconda.com repo.prefix.dev
    developer.download.nvidia.cn test.pypi.org pypi.tuna.tsinghua.edu.cn mirrors.aliyun.com mirrors.ustc.edu.cn
    mirror.sjtu.edu.cn repo.huaweicloud.com mirrors.cloud.tencent.com pypi.jetson-ai-lab.dev pypi.jetson-ai-lab.io
    wheels.vllm.ai github.com docs.nvidia.com pytorch.org
    """
)
CHANNELS = frozenset(
    {
        *("conda-forge", "defaults", "pytorch", "pytorch-nightly", "nvidia", "nodefaults", "main", "r", "msys2", "bioconda"),
        *("simple", "whl", "nightly", "pypi", "free"),
    }
)
