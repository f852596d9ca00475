"""What package managers say of NVIDIA's packages, in any language, and what of it is no fault of theirs."""

from __future__ import annotations

from gpuassist.diagnose.signatures import conda_solver, installers_python, package_managers, package_sources
from tests.diagnose.signatures.reading import parameters, problem
from tests.rows import for_each

FAMILY = (*package_managers.SIGNATURES, *package_sources.SIGNATURES)


@for_each(
    "words, wanted",
    [
        (" nvidia-driver-535 : Hangt af van: nvidia-dkms-535 (= 535.1-0ubuntu1) maar dat is niet installeerbaar", "apt-nvidia"),
        (" nvidia-driver-535 : Riippuvuudet: nvidia-dkms-535 (= 535.1-0ubuntu1) mutta ei ole asennettavissa", "apt-nvidia"),
        (" cuda-drivers : Depends: nvidia-driver-550 (>= 550.54.15) but it is not installable", "apt-nvidia"),
        ("nothing provides libcuda.so.1()(64bit) needed by ffmpeg-libs-6.1-1.fc39.x86_64", "apt-nvidia"),
        ("nothing provides kernel-devel-uname-r = 5.14.0-70.el9.x86_64 needed by kmod-nvidia-550-1.el9.x86_64", "kernel-headers"),
        ("kernel-devel-uname-r = 6.8.4-200.fc39 is needed by nvidia-kmod-3:550.67-1.fc39.x86_64", "kernel-headers"),
        ("gcc is needed by nvidia-kmod-3:550.67-1.fc39.x86_64", "dkms-build"),
        ("dpkg: eroare la procesarea pachetului nvidia-dkms-550 (--configure):", "dkms-build"),
        ("dpkg: eroare la procesarea pachetului libnvidia-gl-550:amd64 (--configure):", "apt-nvidia"),
        ("Building and installing nvidia-open-kmod ................ [  FAILED  ]", "dkms-build"),
        ("E: Unable to locate package nvidia-driver-999", "not-a-gpu"),
        ("installing nvidia-utils (570.86.16-1) breaks dependency 'nvidia-utils=565.77'", "apt-nvidia"),
        ("dracut-install: Failed to find module 'nvidia_drm'", "driver-not-loaded"),
    ],
)
def test_message_is_known(words: str, wanted: str) -> None:
    assert problem(FAMILY, words).startswith(wanted)


@for_each(
    "words",
    [
        " python3-foo : Depends: python3-bar (>= 2.0) but it is not installable",
        "nothing provides libfoo.so.3()(64bit) needed by gimp-plugin-2.10-1.fc39.x86_64",
        "  Recommends: nvidia-settings\n Conflicts: nvidia-driver-binary",
        "nvidia-driver-550 : Recommends: nvidia-settings (>= 550) but it is not going to be installed",
        "dpkg: error processing package mysql-server (--configure):",
        "E: Unable to locate package python3-foo",
        "Building and installing nvidia-kmod                        [  OK  ]",
        "installing linux (6.10) breaks dependency 'linux=6.9' required by virtualbox-host-modules-arch",
        "Encountered problems while solving:\n  - nothing provides cuda-cudart needed by cuda-runtime-12.1",
    ],
)
def test_other_packages_are_none_of_ours(words: str) -> None:
    assert not problem(FAMILY, words)


def test_log_of_akmods_names_driver_and_kernel() -> None:
    words = "Building rpms failed; see /var/cache/akmods/nvidia/550.67-1-for-6.8.4-200.fc39.x86_64.failed.log for details"
    assert parameters(FAMILY, words) == {"driver": "550.67", "kernel": "6.8.4-200.fc39.x86_64"}


@for_each(
    "words, wanted",
    [
        (
            "package cudatoolkit-11.0.3-h15_6 has constraint __cuda >=11.0 conflicting with __cuda-10.2-0",
            {"served": "10.2", "cuda": "11.0"},
        ),
        ("└─ __cuda >=12 , which conflicts with any installable versions\n__cuda=11.4=0", {"served": "11.4", "cuda": "12.0"}),
        ("feature:/linux-64::__cuda==10.2=0\n- cudatoolkit=11.3 -> __cuda[version='>=11.3']", {"served": "10.2", "cuda": "11.3"}),
    ],
)
def test_conda_names_what_the_driver_serves(words: str, wanted: dict[str, str]) -> None:
    assert problem(conda_solver.SIGNATURES, words) == "driver-too-old-for-cuda"
    assert parameters(conda_solver.SIGNATURES, words) == wanted


def test_driver_that_serves_enough_is_not_too_old() -> None:
    words = "feature:/linux-64::__cuda==12.4=0\n- cudatoolkit=11.3 -> __cuda[version='>=11.3']"
    assert problem(conda_solver.SIGNATURES, words) == "conda-resolved-cpu-build"


@for_each(
    "words, wanted",
    [
        (
            "The user requested torch==2.1.0\n torchvision 0.15.2 depends on torch==2.0.1\nResolutionImpossible",
            "torchvision-torch-mismatch",
        ),
        ("Because vllm==0.6.3 depends on torch==2.4.0 and you require torch==2.5.1, No solution found", "torch-pinned-by-package"),
        ("The user requested torch==2.0.1\n torchvision 0.15.2 depends on torch==2.0.1\nResolutionImpossible", ""),
        ("torchvision 0.15.2 depends on torch==2.0.1, torch==2.1.0", ""),
    ],
)
def test_resolver_that_gives_up_on_two_torches(words: str, wanted: str) -> None:
    assert problem(installers_python.SIGNATURES, words) == wanted
