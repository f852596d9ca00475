"""What builders and loaders of torch extensions say."""

from __future__ import annotations

import pytest

from gpuassist.diagnose.signatures.extensions import SIGNATURES
from gpuassist.model.paste import Weight
from tests.diagnose.signatures.reading import parameters, problem, problems, read
from tests.rows import for_each
from tests.values import Recipe, machine

UNSET, MISMATCH, NO_IMAGE = "cuda-home-unset", "torch-cuda-vs-toolkit-mismatch", "no-kernel-image"
IMAGE = "no kernel image is available for execution on the device"


@for_each(
    "words",
    [
        "OSError: CUDA_HOME environment variable is not set. Please set it to your CUDA install root.",
        "EnvironmentError: CUDA_HOME environment variable is not set. Please set it to your CUDA install root.",
        "deepspeed.ops.op_builder.builder.MissingCUDAException: CUDA_HOME does not exist, unable to compile CUDA op(s)",
        "RuntimeError: causal_conv1d was requested, but nvcc was not found.  Are you sure your environment has nvcc available?",
        "UserWarning: mamba_ssm was requested, but nvcc was not found.",
        "NameError: name 'bare_metal_version' is not defined",
        "AssertionError: CUDA_HOME is not set",
        "FileNotFoundError: [Errno 2] No such file or directory: ':/usr/local/cuda/bin/nvcc'",
        "FileNotFoundError: [Errno 2] No such file or directory: '/usr/local/cuda:/usr/local/cuda/bin/nvcc'",
        "RuntimeError: Cannot find CUDA_HOME. CUDA must be available to build the package.",
        "CUDA_HOME = None",
        '    bare = subprocess([CUDA_HOME + "/bin/nvcc", "-V"])\nTypeError: unsupported operand type(s) for +: '
        "'NoneType' and 'str'",
    ],
)
def test_missing_toolkit_is_known_in_every_wording(words: str) -> None:
    assert problem(SIGNATURES, words) == UNSET


def test_toolkit_of_torchs_cuda_is_the_one_to_install() -> None:
    words = "OSError: CUDA_HOME environment variable is not set.\ntorch 2.5.1+cu124"
    assert parameters(SIGNATURES, words) == {"torch_cuda": "12.4", "install": "12.4"}


def test_torch_for_another_makers_gpu_needs_no_toolkit() -> None:
    words = "torch.__version__  = 2.7.0+rocm6.3\nUserWarning: flash_attn was requested, but nvcc was not found."
    assert problem(SIGNATURES, words) == "no-nvidia-gpu"


def test_extension_of_another_cuda_says_so_itself() -> None:
    words = "RuntimeError: Detected that PyTorch and torch_sparse were compiled with different CUDA versions. PyTorch has CUDA 11.7"
    assert problem(SIGNATURES, words) == "extension-build-mismatch"
    assert parameters(SIGNATURES, words) == {"package": "torch_sparse"}


def test_package_that_is_built_apart_does_not_see_torch() -> None:
    words = "Getting requirements to build wheel did not run successfully.\nModuleNotFoundError: No module named 'torch'"
    assert problem(SIGNATURES, words) == "not-a-gpu-problem"
    assert read(SIGNATURES, "ModuleNotFoundError: No module named 'torch'") == ()


@pytest.mark.parametrize(
    "words",
    [
        "nvcc error   : 'cicc' died due to signal 9 (Kill signal)",
        "nvcc error   : 'cudafe++' died due to signal 9 (Kill signal)",
        "c++: fatal error: Killed signal terminated program cc1plus",
        "g++: internal compiler error: Killed (program cc1plus)",
    ],
)
def test_compiler_without_memory_is_no_problem_of_the_gpu(words: str) -> None:
    assert problem(SIGNATURES, words) == "not-a-gpu-problem"


@pytest.mark.parametrize(
    "words",
    [
        "src/x.cu:3:10: fatal error: THC/THC.h: No such file or directory",
        "error: 'THCState' does not name a type",
        "error: ‘AT_CHECK’ was not declared in this scope".replace("‘", "'").replace("’", "'"),
        'error: identifier "THCudaCheck" is undefined',
    ],
)
def test_source_for_an_older_torch_is_a_hint(words: str) -> None:
    assert [(clue.problem, clue.weight) for clue in read(SIGNATURES, words)] == [("extension-build-mismatch", Weight.STATE)]


@pytest.mark.parametrize(
    "words",
    [
        "nvcc fatal   : Value 'c++17' is not defined for option 'std'",
        "nvcc fatal   : Unknown option '--generate-dependencies-with-compile'",
    ],
)
def test_nvcc_that_is_older_than_torch_is_a_hint(words: str) -> None:
    assert read(SIGNATURES, words) == ()
    assert problem(SIGNATURES, f"torch 1.13.1+cu117, nvcc 10.1\n{words}") == MISMATCH


def test_builder_that_sees_no_gpu_is_a_hint() -> None:
    assert problem(SIGNATURES, "No CUDA runtime is found, using CUDA_HOME='/usr/local/cuda'") == "no-driver"


@pytest.mark.parametrize(
    ("module", "package"),
    [
        ("torch_scatter.scatter_cuda", "torch_scatter"),
        ("pcdet.ops.iou3d_nms.iou3d_nms_cuda", "pcdet"),
        ("mmcv._ext", "mmcv"),
        ("detectron2._C", "detectron2"),
    ],
)
def test_compiled_part_that_is_not_there_was_not_built(module: str, package: str) -> None:
    words = f"ModuleNotFoundError: No module named '{module}'"
    assert problem(SIGNATURES, words) == "extension-build-mismatch"
    assert parameters(SIGNATURES, words) == {"package": package}


def test_attention_without_code_for_the_gpu_is_named() -> None:
    words = "Error running sage attention: SM89 kernel is not available. Make sure you GPUs with compute capability 8.9."
    assert problem(SIGNATURES, words) == NO_IMAGE
    assert parameters(SIGNATURES, words) == {"package": "sageattention"}


def test_toolkit_that_is_installed_needs_no_other() -> None:
    told = parameters(SIGNATURES, "OSError: CUDA_HOME environment variable is not set.", machine(Recipe(toolkits=("12.4",))))
    assert told == {"torch_cuda": "12.4", "alternative": "12.4"}


@pytest.mark.parametrize(
    ("words", "nvcc", "torch"),
    [
        (
            "RuntimeError:\nThe detected CUDA version (11.8) mismatches the version that was used to compile\nPyTorch (11.7). "
            "Please make sure to use the same CUDA versions.",
            "11.8",
            "11.7",
        ),
        ("The detected CUDA version (12.1) mismatches the version that was used to compilePyTorch (11.8).", "12.1", "11.8"),
        (
            "RuntimeError: ('The detected CUDA version (%s) mismatches the version that was used to "
            "compilePyTorch (%s). Please make "
            "sure to use the same CUDA versions.', '13.0', '12.8')",
            "13.0",
            "12.8",
        ),
        (
            "Exception: >- DeepSpeed Op Builder: Installed CUDA version 12.2 does not match the version torch "
            "was compiled with 11.7, "
            "unable to compile cuda/cpp extensions without a matching cuda version.",
            "12.2",
            "11.7",
        ),
        (
            "RuntimeError: Cuda extensions are being compiled with a version of Cuda that does not match the "
            "version used to compile "
            "Pytorch binaries.  Pytorch binaries were compiled with Cuda 10.2.\nCuda compilation tools, release 11.1, V11.1.105",
            "11.1",
            "10.2",
        ),
    ],
)
def test_toolkit_of_another_cuda_is_told_with_both_versions(words: str, nvcc: str, torch: str) -> None:
    assert problem(SIGNATURES, words) == MISMATCH
    told = parameters(SIGNATURES, words)
    assert (told["nvcc"], told["torch_cuda"], told["building"], told["install"]) == (nvcc, torch, "yes", torch)


def test_another_minor_version_is_only_warned_of() -> None:
    words = (
        "UserWarning: The detected CUDA version (11.8) has a minor version mismatch with the version that was used to compile "
        "PyTorch (11.7). Most likely this shouldn't be a problem."
    )
    found = read(SIGNATURES, words)
    assert [(clue.problem, clue.weight) for clue in found] == [(MISMATCH, Weight.ASIDE)]
    assert "building" not in parameters(SIGNATURES, words)


@pytest.mark.parametrize(
    ("file", "expected"),
    [
        ("/env/lib/python3.10/site-packages/flash_attn_2_cuda.cpython-310-x86_64-linux-gnu.so", "flash-attn-abi-mismatch"),
        ("flash_attn_cuda.cpython-39-x86_64-linux-gnu.so", "flash-attn-abi-mismatch"),
        ("/env/lib/python3.8/site-packages/torchvision/_C.so", "torchvision-torch-mismatch"),
        ("/env/lib/python3.8/site-packages/xformers/_C.so", "xformers-torch-mismatch"),
        ("/env/lib/python3.10/site-packages/xformers/flash_attn_3/_C.so", "xformers-torch-mismatch"),
        ("/env/lib/python3.10/site-packages/torchaudio/lib/libtorchaudio.so", "torchvision-torch-mismatch"),
        ("/env/lib/python3.8/site-packages/torch_scatter/_scatter_cuda.so", "extension-build-mismatch"),
        ("/env/lib/python3.8/site-packages/mmcv/_ext.cpython-38-x86_64-linux-gnu.so", "extension-build-mismatch"),
        ("/home/me/build/deform_conv_ext.cpython-37m-x86_64-linux-gnu.so", "extension-build-mismatch"),
    ],
)
def test_undefined_symbol_of_torch_names_the_package(file: str, expected: str) -> None:
    words = f"ImportError: {file}: undefined symbol: _ZN3c104cuda9SetDeviceEi"
    assert problem(SIGNATURES, words) == expected


@pytest.mark.parametrize(
    "symbol",
    [
        "_ZN3c104cuda9SetDeviceEi",
        "_ZN2at4_ops5zeros4callEN3c108ArrayRefINS2_6SymIntEEE",
        "_ZNK2at6Tensor8data_ptrIfEEPT_v",
        "_ZN5torch3jit17parseSchemaOrNameERKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE",
        "_ZN6caffe28TypeMeta21_typeMetaDataInstanceIdEEPKNS_6detail12TypeMetaDataEv",
        "THPVariableClass",
    ],
)
def test_symbol_of_torch_is_known(symbol: str) -> None:
    assert problem(SIGNATURES, f"ImportError: /x/y_ext.so: undefined symbol: {symbol}") == "extension-build-mismatch"


def test_package_of_an_undefined_symbol_is_told() -> None:
    words = "ImportError: /env/lib/python3.8/site-packages/my_ops/_impl.so: undefined symbol: THPVariableClass"
    assert parameters(SIGNATURES, words) == {"package": "my_ops"}


def test_flash_attn_is_told_with_both_versions() -> None:
    words = "flash_attn_2_cuda.so: undefined symbol: _ZN3c104cuda9SetDeviceEi\ntorch: 2.3.0\nflash-attn: 2.5.7"
    assert parameters(SIGNATURES, words) == {"flash_attn": "2.5.7", "torch": "2.3.0"}


def test_torchvision_is_told_with_the_one_that_belongs() -> None:
    words = "torchvision/_C.so: undefined symbol: _ZN3c104cuda9SetDeviceEi\ntorch 2.3.0\ntorchvision 0.17.0"
    assert parameters(SIGNATURES, words) == {"torchvision": "0.17.0", "torch": "2.3.0", "wanted": "0.18.0"}


@pytest.mark.parametrize(
    ("words", "package"),
    [
        (f"error in ms_deformable_im2col_cuda: {IMAGE}", "MultiScaleDeformableAttention"),
        (f"CUDA kernel failed : {IMAGE}\nvoid group_points_kernel_wrapper at L:38 in pointnet2/src/group_points_gpu.cu", ""),
        (f"Error {IMAGE} at line 167 in file /home/tim/git/bitsandbytes/csrc/ops.cu", "bitsandbytes"),
        (f'  File "/env/site-packages/spconv/pytorch/ops.py", line 3, in f\n    x()\nRuntimeError: CUDA error: {IMAGE}', "spconv"),
        (f"ggml_cuda_compute_forward: MUL failed\nCUDA error: {IMAGE}", "llama.cpp"),
        (f"xformers: CUDA error: {IMAGE}", "xformers"),
    ],
)
def test_extension_without_code_for_the_gpu_is_named(words: str, package: str) -> None:
    assert problem(SIGNATURES, words) == NO_IMAGE
    assert parameters(SIGNATURES, words).get("package", "") == package


def test_torch_itself_or_an_extension_may_lack_the_code() -> None:
    words = f'  File "/env/site-packages/torch/nn/functional.py", line 3, in f\n    x()\nRuntimeError: CUDA error: {IMAGE}'
    assert {(clue.problem, clue.weight) for clue in read(SIGNATURES, words)} == {
        ("torch-lacks-sm", Weight.STATE),
        (NO_IMAGE, Weight.STATE),
    }


def test_card_below_every_torch_is_told_by_its_capability() -> None:
    words = f"RuntimeError: CUDA error: {IMAGE}\nGPU: GeForce GT 710 (compute capability 3.5), torch 1.13.1+cu116"
    assert problem(SIGNATURES, words) == "gpu-too-old-for-torch"
    assert parameters(SIGNATURES, words) == {"capability": "3.5"}


def test_package_further_up_in_the_traceback_is_not_blamed() -> None:
    frames = '  File "/env/site-packages/torchvision/models/resnet.py", line 9, in forward\n    x = self.conv1(x)\n'
    last = '  File "/env/site-packages/torch/nn/modules/conv.py", line 5, in forward\n    return F.conv2d(x)\n'
    assert "package" not in parameters(SIGNATURES, f"{frames}{last}RuntimeError: CUDA error: {IMAGE}")


@pytest.mark.parametrize(
    "words",
    [
        "export CUDA_HOME=/usr/local/cuda",
        "CUDA_HOME: /usr/local/cuda-12.4",
        "ImportError: /lib/libfoo.so: undefined symbol: foo_bar",
        "ImportError: /env/lib/libstdc++.so.6: version `GLIBCXX_3.4.30' not found",
        "ImportError: cv2.abi3.so: undefined symbol: _ZN2cv3MatC1Ev",
        "The detected operating system version (22.04) mismatches",
        "docker: no such image is available",
        "JAVA_HOME environment variable is not set",
        "ROCM_HOME environment variable is not set. Please set it to your ROCm install root.",
    ],
)
def test_other_messages_are_none_of_these(words: str) -> None:
    assert problems(SIGNATURES, words) == set()


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("CUDA_HOME not found", "cuda-home-unset"),
        ("CUDA_HOME could not be found, set CUDA_PATH", "cuda-home-unset"),
        ("in _join_cuda_home\nTypeError: expected str", "cuda-home-unset"),
        ("foo.so: undefined symbol: aoti_torch_device_type_cuda", "extension-build-mismatch"),
    ],
)
def test_other_wording_leads_to_its_problem(words: str, expected: str) -> None:
    assert problem(SIGNATURES, words) == expected


@pytest.mark.parametrize(
    "words",
    [
        "CUDA_HOME=/usr/local/cuda",
        "CUDA_HOME was found",
        "_join_cuda_home returned a path",
        "foo.so: undefined symbol: aoti_other",
    ],
)
def test_sound_words_beside_it_lead_nowhere(words: str) -> None:
    assert problems(SIGNATURES, words) == set()
