"""Which Python package a compiled file or a traceback belongs to, and what an undefined symbol in it means."""

from __future__ import annotations

from collections.abc import Iterator

from gpuassist.diagnose.signature import Sign, SignatureInput, sign
from gpuassist.diagnose.tool_releases import package_version, torch_version
from gpuassist.model.lazy_regex import lazy_regex
from gpuassist.model.paste import Weight
from gpuassist.model.version import Version, VersionError

# How the compiled parts of packages are called, in file names, kernels and messages.
_MARKS = (
    ("flash_attn", "flash-attn"),
    ("flashattention", "flash-attn"),
    ("flash-attn", "flash-attn"),
    ("bitsandbytes", "bitsandbytes"),
    ("csrc/ops.cu", "bitsandbytes"),
    ("xformers", "xformers"),
    ("torchvision", "torchvision"),
    ("torchaudio", "torchaudio"),
    ("torch_scatter", "torch-scatter"),
    ("torch_sparse", "torch-sparse"),
    ("torch_cluster", "torch-cluster"),
    ("torch_spline", "torch-spline-conv"),
    ("torch_geometric", "torch-geometric"),
    ("pyg_lib", "pyg-lib"),
    ("dgl/", "dgl"),
    ("pytorch3d", "pytorch3d"),
    ("detectron2", "detectron2"),
    ("mmcv", "mmcv"),
    ("mmdet3d", "mmdet3d"),
    ("ms_deform", "MultiScaleDeformableAttention"),
    ("multiscaledeformable", "MultiScaleDeformableAttention"),
    ("pointnet2", "pointnet2"),
    ("iou3d_nms", "pcdet"),
    ("pcdet", "pcdet"),
    ("spconv", "spconv"),
    ("cumm", "cumm"),
    ("minkowskiengine", "MinkowskiEngine"),
    ("tinycudann", "tinycudann"),
    ("tiny-cuda-nn", "tinycudann"),
    ("nvdiffrast", "nvdiffrast"),
    ("diff_gaussian_rasterization", "diff-gaussian-rasterization"),
    ("simple_knn", "simple-knn"),
    ("gsplat", "gsplat"),
    ("mamba_ssm", "mamba-ssm"),
    ("selective_scan", "mamba-ssm"),
    ("causal_conv1d", "causal-conv1d"),
    ("apex", "apex"),
    ("amp_c", "apex"),
    ("fused_layer_norm_cuda", "apex"),
    ("deepspeed", "deepspeed"),
    ("vllm", "vllm"),
    ("auto_gptq", "auto-gptq"),
    ("autogptq", "auto-gptq"),
    ("exllama", "exllamav2"),
    ("awq_", "autoawq"),
    ("natten", "natten"),
    ("transformer_engine", "transformer-engine"),
    ("groundingdino", "groundingdino"),
    ("deform_conv", "the deformable convolution"),
    ("dcn_v2", "DCNv2"),
    ("dcnv2", "DCNv2"),
    ("ggml", "llama.cpp"),
    ("llama.cpp", "llama.cpp"),
    ("whisper.cpp", "whisper.cpp"),
    ("ctranslate2", "ctranslate2"),
    ("sageattention", "sageattention"),
    ("kaolin", "kaolin"),
    ("cupy", "cupy"),
    ("onnxruntime", "onnxruntime-gpu"),
    ("jaxlib", "jaxlib"),
    ("tensorflow", "tensorflow"),
    ("faiss", "faiss-gpu"),
    ("lightgbm", "lightgbm"),
    ("xgboost", "xgboost"),
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
    yield sign(
        "torchvision-torch-mismatch",
        weight,
        torchvision=package_version(setting, "torchvision"),
        torch=_plain(torch_version(setting)),
        wanted=companion(setting, "torchvision"),
        tag=torch_version(setting).partition("+")[2] if "+cu" in torch_version(setting) else "",
    )


def companion(setting: SignatureInput, name: str) -> str:
    """The version of a library that belongs to this torch; empty where that is not known, or a range."""
    try:
        version = Version.parse(torch_version(setting))
    except VersionError:
        return ""
    release = setting.case.knowledge.torch_release(version)
    belonging = release.companions_of(version) if release is not None else ()
    return next((one.version for one in belonging if one.name == name and one.version[:1].isdigit()), "")


def _plain(version: str) -> str:
    return version.partition("+")[0]


def _name_of(file: str) -> str:
    """By its directory under site-packages, else by its own name."""
    inside = _COMPILED.search(file)
    if inside is not None:
        return inside[1]
    found = _FILE.search(file.strip().rpartition("/")[2])
    name = found[1] if found else ""
    return "" if name.startswith("lib") or name == "_C" else name
