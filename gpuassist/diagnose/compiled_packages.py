"""Which Python package a compiled file or a traceback belongs to, and what an undefined symbol in it means."""

from __future__ import annotations

from collections.abc import Iterator

from gpuassist.diagnose.signature import Sign, SignatureInput, sign
from gpuassist.diagnose.tool_releases import package_version, torch_version
from gpuassist.knowledge.specifier import version_in
from gpuassist.model.lazy_regex import lazy_regex
from gpuassist.model.paste import Weight

# How the compiled parts of packages are called, in file names, kernels and messages: as the package in lower case, or otherwise.
_CALLED_ALIKE = (
    *("bitsandbytes", "xformers", "torchvision", "torchaudio", "pytorch3d", "detectron2", "mmcv", "mmdet3d", "pointnet2", "pcdet"),
    *("spconv", "cumm", "MinkowskiEngine", "tinycudann", "nvdiffrast", "gsplat", "apex", "deepspeed", "vllm", "natten"),
    *("groundingdino", "llama.cpp", "whisper.cpp", "ctranslate2", "sageattention", "kaolin", "cupy", "jaxlib", "tensorflow"),
    *("lightgbm", "xgboost", "flash-attn"),
)
_CALLED_OTHERWISE = {
    "flash-attn": "flash_attn flashattention",
    "bitsandbytes": "csrc/ops.cu",
    "torch-scatter": "torch_scatter",
    "torch-sparse": "torch_sparse",
    "torch-cluster": "torch_cluster",
    "torch-spline-conv": "torch_spline",
    "torch-geometric": "torch_geometric",
    "pyg-lib": "pyg_lib",
    "dgl": "dgl/",
    "MultiScaleDeformableAttention": "ms_deform multiscaledeformable",
    "pcdet": "iou3d_nms",
    "tinycudann": "tiny-cuda-nn",
    "diff-gaussian-rasterization": "diff_gaussian_rasterization",
    "simple-knn": "simple_knn",
    "mamba-ssm": "mamba_ssm selective_scan",
    "causal-conv1d": "causal_conv1d",
    "apex": "amp_c fused_layer_norm_cuda",
    "auto-gptq": "auto_gptq autogptq",
    "exllamav2": "exllama",
    "autoawq": "awq_",
    "transformer-engine": "transformer_engine",
    "the deformable convolution": "deform_conv",
    "DCNv2": "dcn_v2 dcnv2",
    "llama.cpp": "ggml",
    "onnxruntime-gpu": "onnxruntime",
    "faiss-gpu": "faiss",
}
_MARKS = (
    *((name.lower(), name) for name in _CALLED_ALIKE),
    *((mark, name) for name, marks in _CALLED_OTHERWISE.items() for mark in marks.split()),
)
_COMPILED = lazy_regex(r"(?:site-packages|dist-packages)[\\/]([A-Za-z]\w{1,60})[\\/][^\s:]{0,200}\.so")
_FILE = lazy_regex(r"([A-Za-z]\w{1,60}?)(?:\.cpython-\w+(?:-\w+)*|\.abi3)?\.so[.\d]*$")


def package_of(words: str) -> str:
    """The package with compiled CUDA code that the words name; empty where they name none but torch."""
    lowered = words.lower()
    found = [(lowered.rfind(mark), name) for mark, name in _MARKS if mark in lowered]
    return max(found)[1] if found else ""


def undefined_in(file: str, setting: SignatureInput) -> Iterator[Sign]:
    """What a symbol of torch that a compiled file does not find means: the file was compiled for another torch."""
    inside = _COMPILED.search(file)
    torch, package = torch_version(setting), (package_of(f"{inside[1]}/") if inside else "") or package_of(file)
    if package == "flash-attn":
        yield sign("flash-attn-abi-mismatch", flash_attn=package_version(setting, "flash-attn"), torch=torch)
    elif package == "torchvision":
        yield from torchvision_pair(setting)
    elif package == "xformers":
        yield sign("xformers-torch-mismatch", torch=torch, wanted=companion(setting, "xformers"))
    elif package == "torchaudio":
        yield sign("torchvision-torch-mismatch", package=package)
    elif package != "bitsandbytes":
        yield sign("extension-build-mismatch", package=package or _name_of(file))


def torchvision_pair(setting: SignatureInput, weight: Weight = Weight.CAUSE) -> Iterator[Sign]:
    """torchvision and torch that are no pair, with the one that would be."""
    version = torch_version(setting)
    torch, _, tag = version.partition("+")
    yield sign(
        "torchvision-torch-mismatch",
        weight,
        torchvision=package_version(setting, "torchvision"),
        torch=torch,
        wanted=companion(setting, "torchvision"),
        tag=tag if "+cu" in version else "",
    )


def companion(setting: SignatureInput, name: str, torch: str = "") -> str:
    """The version of a library that belongs to a torch, that of the text unless one is named; empty where that is not known, or a
    range.
    """
    version = version_in(torch or torch_version(setting))
    release = setting.case.knowledge.torch_release(version) if version is not None else None
    belonging = release.companions_of(version) if release is not None and version is not None else ()
    return next((one.version for one in belonging if one.name == name and one.version[:1].isdigit()), "")


def _name_of(file: str) -> str:
    """By its directory under site-packages, else by its own name."""
    inside = _COMPILED.search(file)
    if inside is not None:
        return inside[1]
    found = _FILE.search(file.strip().rpartition("/")[2])
    name = found[1] if found else ""
    return "" if name.startswith("lib") or name == "_C" else name
