"""The framework or program that a text is about: its remedies and its pages are the ones that help, and no other's.

A text names it by paths, module names, prefixes of log lines and its own settings. What runs on another framework (ComfyUI on
torch) is named itself, and its remedies may speak of that one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from msgspec import Struct

from gpuassist.diagnose.catalogue import CONTAINER_ENGINE, FRAMEWORK, FRAMEWORK_NAME, WITH_TORCH
from gpuassist.diagnose.signature import SignatureInput, passages
from gpuassist.model.paste import Clue


class Framework(Struct, frozen=True):
    """One by its key, as people call it, and how a text names it; `on_torch` for what computes with torch; `program` for what a
    user starts as a whole: it is at hand rather than the library that it uses.
    """

    key: str
    name: str
    literals: tuple[str, ...]
    pattern: str
    on_torch: bool = False
    program: bool = False


def _of_torch(key: str, name: str, literals: tuple[str, ...], pattern: str, *, program: bool = True) -> Framework:
    return Framework(key, name, literals, pattern, on_torch=True, program=program)


def _program(key: str, name: str, literals: tuple[str, ...], pattern: str) -> Framework:
    return Framework(key, name, literals, pattern, program=True)


FRAMEWORKS = (
    _of_torch("comfyui", "ComfyUI", ("comfyui", "comfy/", "comfy\\", "comfy_"), r"\bcomfyui|\bcomfy[/\\_]"),
    _of_torch(
        "webui",
        "Stable Diffusion WebUI",
        ("stable-diffusion-webui", "automatic1111", "webui-user", "sd-webui", "commandline_args", "sd.next"),
        r"stable-diffusion-webui|automatic1111|\bwebui-user|sd-webui|COMMANDLINE_ARGS|\bsd\.next\b",
    ),
    _of_torch("vllm", "vLLM", ("vllm",), r"\bvllm\b|\bvllm[._/-]"),
    _of_torch("sglang", "SGLang", ("sglang", "sgl_kernel", "sgl-kernel"), r"\bsglang\b|\bsgl[_-]kernel"),
    _program("ollama", "Ollama", ("ollama",), r"\bollama"),
    _program(
        "llama.cpp",
        "llama.cpp",
        ("ggml", "llama.cpp", "llama-server", "llama-cli", "llama_", "llama-cpp", "koboldcpp", "whisper.cpp", "lm studio", ".gguf"),
        r"\bggml|llama\.cpp|\bllama-(?:server|cli|bench|cpp)|\bllama_(?:model|cpp|init|load|new|context|params|kv)|koboldcpp"
        r"|whisper\.cpp|lm studio|\.gguf\b",
    ),
    _program(
        "faster-whisper", "faster-whisper", ("faster-whisper", "faster_whisper", "whisperx"), r"faster[-_]whisper|\bwhisperx\b"
    ),
    _program(
        "matlab", "MATLAB", ("matlab", "gpudevice", "parallel:gpu", "mexcuda"), r"\bmatlab\b|\bgpuDevice\b|parallel:gpu|mexcuda"
    ),
    _program("blender", "Blender", ("blender", "cycles"), r"\bblender\b|\bcycles (?:render|device|kernel)|kernel_optix|\bcycles_"),
    _program(
        "game",
        "the game",
        ("proton", "dxvk", "vkd3d", "lutris", "wine", "steam", "vkcreate", "vk_error", "xwayland", "gamescope"),
        r"\bproton\b|\bdxvk\b|\bvkd3d|\blutris\b|\bwine(?:64)?\b|\bsteam(?:apps)?\b|\bvkCreate\w+|\bVK_ERROR_\w+|gamescope",
    ),
    _program(
        "ffmpeg",
        "FFmpeg",
        ("ffmpeg", "nvenc", "cuvid", "avhwdevice", "[av1_nvenc", "libavcodec", "obs studio", "handbrake"),
        r"\bffmpeg\b|\bnvenc|_nvenc\b|cuvid\b|AVHWDevice|libavcodec|\bobs studio\b|\bhandbrake\b",
    ),
    _program(
        "triton-server",
        "Triton Inference Server",
        ("tritonserver", "triton inference server"),
        r"\btritonserver\b|triton inference server",
    ),
    _program("gromacs", "GROMACS", ("gromacs", "gmx mdrun", "gmx_mpi"), r"\bgromacs\b|\bgmx(?:_mpi)? mdrun"),
    _program("namd", "NAMD", ("namd",), r"\bnamd[23]?\b"),
    _program("lammps", "LAMMPS", ("lammps",), r"\blammps\b"),
    _program("hashcat", "hashcat", ("hashcat",), r"\bhashcat\b"),
    _program("folding", "Folding@home", ("fahclient", "folding@home", "fahcore"), r"\bfahclient\b|folding@home|\bfahcore"),
    _program("deepstream", "DeepStream", ("deepstream", "nvinfer ", "gst-nv"), r"\bdeepstream\b|\bgst-nv\w+"),
    Framework("exla", "EXLA (Elixir)", ("exla", "elixir", "(nx)", "(axon"), r"\bexla\b|\belixir\b|\(nx[ )]|\(axon[ )]"),
    Framework(
        "julia", "CUDA.jl", ("cuda.jl", "julia", "cudnn.jl", "flux.jl"), r"\bcu\w+\.jl\b|\bjulia\b|\.julia[/\\]|\bflux\.jl\b"
    ),
    Framework(
        "rust",
        "the Rust program",
        ("cudarc", "candle", "burn-", "cargo", "rust-cuda"),
        r"\bcudarc\b|\bcandle[-_:]\w+|\bburn-cu\w+|\bcargo (?:run|build|test)",
    ),
    Framework(
        "tensorflow",
        "TensorFlow",
        ("tensorflow", "keras", "tf.", "bfc_allocator", "tf-trt", "oom when allocating tensor", "tf_"),
        r"tensorflow|\bkeras\b|\btf\.(?:config|test|keras|device|random|matmul|constant|Session|compat|Variable|data|function|nn)"
        r"|bfc_allocator|TF-TRT|OOM when allocating tensor|\bTF_[A-Z]+_",
    ),
    Framework(
        "jax",
        "JAX",
        ("jax", "xla_python_client", "tfrt_cpu_0", "cpudevice(id", "cudadevice(id", "flax", "xla_bridge"),
        r"\bjax(?:lib)?\b|\bjax[._]|XLA_PYTHON_CLIENT|TFRT_CPU_0|\bC(?:pu|uda)Device\(id|\bflax\b|xla_bridge",
    ),
    Framework("cupy", "CuPy", ("cupy",), r"\bcupy"),
    Framework("numba", "Numba", ("numba",), r"\bnumba\b"),
    Framework("onnxruntime", "ONNX Runtime", ("onnxruntime", "executionprovider", "ort_"), r"onnxruntime|\w+ExecutionProvider\b"),
    Framework("ctranslate2", "CTranslate2", ("ctranslate2",), r"\bctranslate2\b"),
    Framework("dlib", "dlib", ("dlib", "face_recognition"), r"\bdlib\b|\bface_recognition\b"),
    Framework("opencv", "OpenCV", ("opencv", "cv2", "cv::"), r"\bopencv|\bcv2\b|\bcv::"),
    Framework("xgboost", "XGBoost", ("xgboost", "lightgbm", "catboost"), r"\bxgboost\b|\blightgbm\b|\bcatboost\b"),
    Framework(
        "rapids",
        "RAPIDS",
        ("cudf", "cuml", "cugraph", "rmm", "rapids"),
        r"\bcudf\b|\bcuml\b|\bcugraph\b|\brmm(?:::|\.|: )|\brapids\b",
    ),
    Framework("paddle", "PaddlePaddle", ("paddle",), r"\bpaddle"),
    Framework("mxnet", "MXNet", ("mxnet",), r"\bmxnet\b"),
    Framework("tensorrt", "TensorRT", ("tensorrt", "trtexec", "[trt]"), r"\btensorrt\b|\btrtexec\b|\[TRT\]"),
    Framework("darknet", "Darknet", ("darknet",), r"\bdarknet\b"),
    Framework("caffe", "Caffe", ("caffe",), r"\bcaffe\b(?!2)"),
    Framework("theano", "Theano", ("theano",), r"\btheano\b"),
    Framework("cntk", "CNTK", ("cntk",), r"\bcntk\b"),
    Framework(
        "torch",
        "torch",
        (
            *(
                "torch",
                "aten/",
                "at::",
                "c10",
                "caffe2",
                "tried to allocate",
                "transformers",
                "accelerate",
                "diffusers",
                "lightning",
            ),
            *("deepspeed", "xformers", "flash_attn", "flash-attn", "bitsandbytes", "triton", "ultralytics", "detectron2", "mmcv"),
            *("fairseq", "unsloth", "thc/", "processgroupnccl", "apex", "cuda:0", "device-side assertion tracking", "exllama"),
            *(
                "_cuda_getdevicecount",
                "cpp_extension",
                "pytorch",
                "cuda_launch_blocking=1",
                "gptq",
                "torch_use_cuda_dsa",
                "dataloader",
            ),
            *("peft", "axolotl", "sentence_transformers", "nms", "nemo", "megatron", "cuda.is_available"),
            *(
                "runtimeerror: cuda error",
                "runtimeerror: cudnn error",
                "cuda_home",
                "op_builder",
                "flashattention",
                "flash attention",
            ),
            *("loss", "criterion(", "libcuda.so cannot found"),
        ),
        r"(?<![a-z])(?:py|lib)?torch(?![a-z])|torch(?:vision|audio|text|codec|run|script|elastic|gen|tune)|\bATen/|\bat::|\bc10\b|\bc10(?:::|_)"
        r"|caffe2|tried to allocate|(?<![a-z])transformers\b|\baccelerate\b|\bdiffusers\b|\blightning\b|\bdeepspeed\b|\bxformers\b"
        r"|flash[_-]attn|\bbitsandbytes\b|\btriton(?:\.|/| compiler|==|-lang)|\bultralytics\b|\bdetectron2\b|\bmmcv\b|\bfairseq\b"
        r"|\bunsloth|\bTHC/"
        r"|ProcessGroupNCCL|\bapex\b|CUDA_LAUNCH_BLOCKING=1|TORCH_USE_CUDA_DSA|\bcpp_extension\b|cuda\.is_available|exllama|gptq"
        r"|RuntimeError: cu(?:da|dnn) error|CUDA_HOME (?:environment|does not)|CUDA_HOME: please|op_builder|flash ?attention"
        r"|\bloss\.(?:backward|item)\b|\bcriterion\(|libcuda\.so cannot found|\bpeft\b|\baxolotl\b|\bDataLoader\b|\bnemo\b"
        r"|\bmegatron\b",
        on_torch=True,
    ),
)
_ENGINES = (
    ("podman", ("podman",), r"\bpodman"),
    (
        "kubernetes",
        (
            "kubectl",
            "kubelet",
            "kubernetes",
            "k8s",
            "device plugin",
            "device-plugin",
            "gpu-operator",
            "gpu operator",
            "retrieving plugins",
        ),
        r"\bkubectl\b|\bkubelet\b|\bkubernetes\b|\bk8s\b|\bdevice[- ]plugin|\bgpu[- ]operator\b|Retrieving plugins",
    ),
    ("apptainer", ("apptainer", "singularity"), r"\bapptainer\b|\bsingularity\b"),
    ("docker", ("docker",), r"\bdocker(?!\.io\b|\.com\b|hub\b)"),
)
_BY_KEY = {one.key: one for one in FRAMEWORKS}


def named(setting: SignatureInput) -> dict[str, tuple[int, ...]]:
    """The frameworks that the text names, with the lines that do."""
    found: dict[str, tuple[int, ...]] = {}
    for one in FRAMEWORKS:
        if setting.says(*one.literals):
            matches = passages(setting, one.literals, one.pattern, window=80)
            lines = tuple(setting.line_at(match.start()) for match in matches if not _in_table(match))
            if lines:
                found[one.key] = lines
    return found


def _in_table(match: re.Match[str]) -> bool:
    """Whether it is a row of nvidia-smi's table: what else runs on the GPU is not what the text is about."""
    start = match.string.rfind("\n", 0, match.start()) + 1
    return match.string[start : start + 4].lstrip().startswith("|")


def at_hand(setting: SignatureInput, clues: tuple[Clue, ...] = ()) -> Framework | None:
    """The one that the text is about: a program before a library, and of several the one named nearest to what fails."""
    lines = named(setting)
    failing = clues[0].passage.line if clues else 0

    def order(key: str) -> tuple[bool, int, int]:
        nearest = min(abs(line - failing) for line in lines[key])
        return not _BY_KEY[key].program, nearest, list(_BY_KEY).index(key)

    return _BY_KEY[min(lines, key=order)] if lines else None


def terms(setting: SignatureInput, clues: tuple[Clue, ...] = ()) -> Mapping[str, str]:
    """What conditions of the catalogue may ask of it. torch is spoken of where the text or the machine has one, not elsewhere."""
    return dict(_terms(setting, clues))


def _terms(setting: SignatureInput, clues: tuple[Clue, ...]) -> Iterator[tuple[str, str]]:
    found = at_hand(setting, clues)
    if found is not None:
        yield FRAMEWORK, found.key
        yield FRAMEWORK_NAME, found.name
    for engine, literals, pattern in _ENGINES:
        if setting.says(*literals) and passages(setting, literals, pattern, window=40, most=1):
            yield CONTAINER_ENGINE, engine
            break
    with_torch = found.on_torch if found is not None else bool(setting.case.torches)
    yield WITH_TORCH, "yes" if with_torch else ""
