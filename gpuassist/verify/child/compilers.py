"""What is compiled for the device while it runs, where the user has it: torch.compile with Triton, xformers, TensorRT.

Whatever a check can ask in whole numbers it does, so that each result must be the expected one bit by bit, whichever kernel was
chosen. Compiled code must really have been made: a result that torch computed step by step would prove nothing.
"""

from __future__ import annotations

import contextlib
import importlib
import math
import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import threading
import time
from typing import Any, Callable, Dict, Iterator, List, Tuple

from .bench import FULL, U_FP16, U_FP32, U_TENSOR_CORE, Bench, Check, Measured, Skipped, Wrong, distance, precision, repeated, same

_COMPILING_SECONDS = 240.0  # at most so long does compiling count as a sign of life; slow machines took 20 s for one function
_SIZES = (77, 1000, 4099, 128)
_WRONG = 3
_TRITON_FROM = 7  # compute capability; torch's inductor refuses older GPUs


def package(name: str) -> Any:
    """The package, imported; `Skipped` where it is not installed, and its own words where it is and breaks."""
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name == name.partition(".")[0]:
            raise Skipped("{} is not installed".format(error.name), "absent") from None
        raise


@contextlib.contextmanager
def patience(bench: Bench, seconds: float = _COMPILING_SECONDS) -> Iterator[None]:
    """Compilers say nothing while they work: signs of life are given for them, for a while."""
    ended, until = threading.Event(), time.monotonic() + seconds

    def tick() -> None:
        while time.monotonic() < until and not ended.wait(0.5):
            bench.tick()

    ticking = threading.Thread(target=tick, daemon=True)
    ticking.start()
    try:
        yield
    finally:
        ended.set()
        ticking.join()


# torch.compile


@contextlib.contextmanager
def _compiler(bench: Bench) -> Iterator[Callable[[], str]]:
    """torch.compile, which compiles anew and into a directory of this run; what it yields says which code was made there."""
    _available(bench)
    folder = os.path.join(bench.scratch or tempfile.gettempdir(), "compiled")
    os.makedirs(folder, exist_ok=True)
    place = tempfile.mkdtemp(dir=folder)
    wanted = {"TORCHINDUCTOR_CACHE_DIR": place, "TRITON_CACHE_DIR": os.path.join(place, "triton")}
    wanted["TORCHINDUCTOR_COMPILE_THREADS"] = "1"  # or a pool of processes outlives the check
    before = {name: os.environ.get(name) for name in wanted}
    os.environ.update(wanted)
    try:
        yield lambda: _made(bench, place)
    except RuntimeError as error:
        for missing in ("C compiler", "C++ compiler", "Python.h"):
            if missing in str(error):
                raise Skipped("torch.compile needs what is not installed: {}".format(missing), "absent") from error
        raise
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
        if not bench.scratch:
            shutil.rmtree(folder, ignore_errors=True)


def _available(bench: Bench) -> None:
    torch = bench.torch
    if not hasattr(torch, "compile"):
        raise Skipped("torch {} has no torch.compile".format(torch.__version__), "absent")
    if not bench.on_gpu:
        if not shutil.which(os.environ.get("CXX") or "g++"):
            raise Skipped("torch.compile needs a C++ compiler on the CPU, and g++ is not installed", "absent")
        if not os.path.exists(os.path.join(sysconfig.get_paths()["include"], "Python.h")):
            raise Skipped("torch.compile needs Python's headers on the CPU, and Python.h is not installed", "absent")
    elif not getattr(torch.version, "hip", None) and bench.capability()[0] < _TRITON_FROM:
        raise Skipped("Triton makes no code for compute capability below {}.0".format(_TRITON_FROM))
    if bench.on_gpu:
        package("triton")
    with patience(bench):
        dynamo = importlib.import_module("torch._dynamo")
    if getattr(dynamo.config, "disable", False):
        raise Skipped("torch.compile is switched off by TORCHDYNAMO_DISABLE or TORCH_COMPILE_DISABLE", "absent")
    if not getattr(dynamo, "is_dynamo_supported", lambda: True)():
        raise Skipped("torch {} has no torch.compile for this Python".format(torch.__version__), "absent")


def _made(bench: Bench, place: str) -> str:
    """What was compiled: with `fullgraph` nothing is left to be run step by step, and here lies the code, or this raises."""
    found: List[str] = [name for _, _, names in os.walk(place) for name in names]
    if not bench.on_gpu:
        if any(name.endswith(".so") for name in found):
            return "C++ ({})".format(os.environ.get("CXX") or "g++")
        raise RuntimeError("torch.compile ran, and made no code for the CPU")
    count = sum(name.endswith((".cubin", ".hsaco")) for name in found)
    if not count:
        raise RuntimeError("torch.compile ran, and Triton made no code for this GPU")
    triton = importlib.import_module("triton")
    return "Triton {}, {} kernels for compute capability {}.{}".format(triton.__version__, count, *bench.capability())


def compiled_function(bench: Bench, _kind: str) -> Measured:
    """exp(-x*x) + sin(x) for |x| <= 1, fused into one kernel, against fp64.

    Triton's exp may be the fast one: at most 2 + |1.173x| ulp (CUDA C++ programming guide, intrinsic functions), below 4 ulp = 8u
    of at most 1; the rounded square adds u/e, sin 2 ulp = 4u, the sum 2u: below 16u.
    """
    values = bench.uniform(bench.size * 64).clamp(-1, 1)
    reference = (-values.double() * values.double()).exp() + values.double().sin()
    given = bench.to_device(values)
    with _compiler(bench) as made:
        compiled = bench.torch.compile(lambda x: (-x * x).exp() + x.sin(), fullgraph=True)
        with patience(bench):
            error = distance(bench, compiled(given), reference)
        runs = repeated(bench, lambda: compiled(given))
        error = max(error, distance(bench, runs.first, reference))
        notes = {"backend": made()}
    return Measured(error, 16 * U_FP32, compared=2 * reference.numel() + runs.compared, notes=notes)


def network(torch: Any, whole: Callable[..., Any]) -> Any:
    """Two layers with weights of whole numbers from -2 to 2: what passes between them is at most 258, which every format holds."""
    layers = torch.nn.Sequential(torch.nn.Linear(64, 128), torch.nn.ReLU(), torch.nn.Linear(128, 32)).double()
    with torch.no_grad():
        for number, weights in enumerate(layers.parameters()):
            weights.copy_(whole(-2, 2, *weights.shape, number + 1).select(-1, number))
    return layers


def compiled_module(bench: Bench, _kind: str) -> Measured:
    """A small network forward and backward: results and gradients are whole numbers below 2**24, so they must be exact in fp32."""
    torch = bench.torch
    layers = network(torch, bench.whole)
    values, pull = bench.whole(-2, 2, 128, 64).double(), bench.whole(-2, 2, 128, 32).double()
    wanted = [bench.to_device(one.float()) for one in _forward_and_backward(layers, layers, values, pull)]
    layers = layers.float().to(bench.device)
    given, pulled, compared = bench.to_device(values.float()), bench.to_device(pull.float()), 0
    with _compiler(bench) as made, precision(torch, tf32=False):
        compiled = torch.compile(layers, fullgraph=True)
        for number in range(bench.repeats + 1):
            with patience(bench) if not number else contextlib.nullcontext():
                found = _forward_and_backward(compiled, layers, given, pulled)
            compared += sum(same(bench, found[place], expected, number) for place, expected in enumerate(wanted))
        notes = {"backend": made()}
    return Measured(0.0, 0.0, compared=compared, notes=notes)


def _forward_and_backward(module: Any, layers: Any, values: Any, pull: Any) -> List[Any]:
    """The result, the gradient by the input, and those by the weights."""
    given = values.clone().requires_grad_()
    layers.zero_grad()
    result = module(given)
    (result * pull).sum().backward()
    return [result.detach(), given.grad, *(weights.grad.clone() for weights in layers.parameters())]


def compiled_dynamic(bench: Bench, _kind: str) -> Measured:
    """One compiled function for inputs of several lengths, each result exact."""
    torch, compared = bench.torch, 0
    with _compiler(bench) as made:
        compiled = torch.compile(lambda x: (x * 3 - 1).clamp(min=0), fullgraph=True, dynamic=True)
        for number in range(bench.repeats + 1):
            for size in _SIZES:
                values = bench.whole(-1000, 1000, size)
                with patience(bench) if not number else contextlib.nullcontext():
                    result = compiled(bench.to_device(values.float()))
                compared += same(bench, result, bench.to_device((values * 3 - 1).clamp(min=0).float()), number)
        notes = {"backend": made()}
    return Measured(0.0, 0.0, compared=compared, notes=notes)


# Packages of others


def xformers_attention(bench: Bench, kind: str) -> Measured:
    """Attention by xformers against fp64, and against torch's own.

    A score q*k/sqrt(d) is off by at most e = (d*u_t + 4u)*N, u_t a tensor core's, N the greatest product of the norms over sqrt(d).
    Weights are off by 2e(1 + e), by two exponentials of 2 ulp each, above and below, by a sum of m, and by a running maximum that
    is applied at most m times; they are rounded to the format, and so small ones to its least number, before m products are summed.
    Every |v| is at most 1. The result is rounded once more.
    """
    torch, m, d = bench.torch, 256, 64
    attention = package("xformers.ops").memory_efficient_attention
    q, k, v = (bench.uniform(2, m, 4, d + part)[..., :d].to(bench.dtype(kind)) for part in range(3))
    reference = _attention(q.double(), k.double(), v.double())
    largest = float(q.double().norm(dim=-1).max() * k.double().norm(dim=-1).max()) / math.sqrt(d)
    score = (d * U_TENSOR_CORE + 4 * U_FP32) * largest
    summed = 2 * score * (1 + score) + 8 * U_FP32 + 2 * m * U_FP32 + U_FP16 + m * 2.0**-25 + m * U_TENSOR_CORE
    bound = summed + U_FP16 * (float(reference.abs().max()) + summed)
    given = [bench.to_device(one) for one in (q, k, v)]
    runs = repeated(bench, lambda: attention(*given))
    error, compared, notes = distance(bench, runs.first, reference), reference.numel() + runs.compared, {}
    if hasattr(torch.nn.functional, "scaled_dot_product_attention"):
        own = torch.nn.functional.scaled_dot_product_attention(*(one.transpose(1, 2) for one in given)).transpose(1, 2)
        apart = distance(bench, runs.first, own.detach().cpu())
        notes["apart_from_torch"] = apart
        if not apart <= 2 * bound:
            raise Wrong("xformers and torch are {} apart, which rounding in both does not explain: {}".format(apart, 2 * bound))
    return Measured(error, bound, compared=compared, notes=notes)


def _attention(q: Any, k: Any, v: Any) -> Any:
    """For tensors of batch, position, head, part."""
    q, k, v = (one.transpose(1, 2) for one in (q, k, v))
    return ((q @ k.transpose(-2, -1)) / math.sqrt(q.shape[-1])).softmax(dim=-1).matmul(v).transpose(1, 2)


# Loads what another process saved, runs it, and ends with 0 where the result is right and with 3 where it is not.
_LOADS = """
import sys, torch, torch_tensorrt
place, how, data, device = sys.argv[1:]
torch.cuda.set_device(torch.device(device))
given, wanted = (one.to(device) for one in torch.load(data))
module = torch.jit.load(place) if how == "torchscript" else torch.export.load(place).module()
result = module(given)
result = result[0] if isinstance(result, (list, tuple)) else result
if result.shape != wanted.shape:
    sys.exit("the result has the shape %s and not %s" % (tuple(result.shape), tuple(wanted.shape)))
differ = int((result != wanted).sum())
print("%d of %d elements differ" % (differ, wanted.numel()))
sys.exit(3 if differ else 0)
"""


def torch_tensorrt_module(bench: Bench, _kind: str) -> Measured:
    """A small network compiled by Torch-TensorRT, wholly; then saved, and loaded by another process, which runs it again."""
    torch, trt = bench.torch, package("torch_tensorrt")
    layers, values = network(torch, bench.whole), bench.whole(-2, 2, 128, 64).double()
    with torch.no_grad():
        wanted = bench.to_device(layers(values).float())
    layers, given = layers.float().eval().to(bench.device), bench.to_device(values.float())
    folder = tempfile.mkdtemp(dir=bench.scratch or None)
    place, data = (os.path.join(folder, name) for name in ("module", "data"))
    with torch.cuda.device(bench.device), torch.no_grad():
        with patience(bench):
            compiled, how = _compiled_by_tensorrt(torch, trt, layers, given)
        compared = 0
        for number in range(bench.repeats + 1):
            result = compiled(given)
            compared += same(bench, result[0] if isinstance(result, (list, tuple)) else result, wanted, number)
        if how == "torchscript":
            torch.jit.save(compiled, place)
        else:
            trt.save(compiled, place, inputs=[given])
        torch.save((given.cpu(), wanted.cpu()), data)
    _loads(bench, [sys.executable, "-c", _LOADS, place, how, data, str(bench.device)], folder)
    shutil.rmtree(folder, ignore_errors=True)
    return Measured(0.0, 0.0, compared=compared + wanted.numel(), notes={"backend": "{} {}".format(how, trt.__version__)})


def _compiled_by_tensorrt(torch: Any, trt: Any, layers: Any, given: Any) -> Tuple[Any, str]:
    """Exported programs can be saved since Torch-TensorRT 2.3; before that it was TorchScript that could."""
    wholly = {"inputs": [given], "min_block_size": 1, "require_full_compilation": True}
    if hasattr(trt, "save"):
        return trt.compile(layers, ir="dynamo", **wholly), "exported program"
    return trt.compile(torch.jit.trace(layers, given), ir="ts", **wholly), "torchscript"


def _loads(bench: Bench, command: List[str], folder: str) -> None:
    """Raises `Wrong` where the other process gets another result, and its last words where it gets none."""
    with open(os.path.join(folder, "output"), "w+", encoding="utf-8", errors="replace") as output:
        process = subprocess.Popen(command, cwd=folder, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT)
        with patience(bench):
            try:
                status = process.wait(_COMPILING_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
                raise RuntimeError(
                    "a new process that loads the saved module did not end in {:.0f} s".format(_COMPILING_SECONDS)
                ) from None
        output.seek(0)
        said = output.read().strip().splitlines()[-3:]
    if status == _WRONG:
        raise Wrong("a new process loaded the saved module, and {}".format(said[-1] if said else "its result is wrong"))
    if status:
        raise RuntimeError(
            "a new process could not run the saved module: {}".format(" / ".join(said) or "status {}".format(status))
        )


def tensorrt_engine(bench: Bench, _kind: str) -> Measured:
    """An engine of a product and a threshold, built here, run on torch's memory: whole numbers, exact in every format."""
    torch, trt = bench.torch, package("tensorrt")
    values, weights = bench.whole(-2, 2, 128, 64), bench.whole(-2, 2, 64, 32)
    wanted = bench.to_device((values.double() @ weights.double()).clamp(min=0).float())
    x, w, result = bench.to_device(values.float()), bench.to_device(weights.float()), torch.empty_like(wanted)
    with torch.cuda.device(bench.device):
        with patience(bench):
            engine = _engine(trt, {"x": tuple(x.shape), "w": tuple(w.shape)})
        context = engine.create_execution_context()
        compared, before = 0, torch.full_like(result, -1.0)  # which a threshold never gives
        for number in range(bench.repeats + 1):
            result.fill_(-1.0)
            compared += same(bench, result, before, number)
            if not _run(bench, context, {"x": x, "w": w, "y": result}):
                raise RuntimeError("TensorRT refused to run the engine that it had built")
            compared += same(bench, result, wanted, number)
    return Measured(0.0, 0.0, compared=compared, notes={"backend": "TensorRT {}".format(trt.__version__)})


def _engine(trt: Any, inputs: Dict[str, Any]) -> Any:
    logger = trt.Logger(trt.Logger.ERROR)
    builder = trt.Builder(logger)
    # before TensorRT 10 a network could be without a side for the batch, and had to be asked for one
    flag = getattr(trt.NetworkDefinitionCreationFlag, "EXPLICIT_BATCH", None)
    old = int(str(trt.__version__).partition(".")[0]) < 10
    definition = builder.create_network(1 << int(flag) if old and flag is not None else 0)
    x, w = (definition.add_input(name, trt.float32, shape) for name, shape in inputs.items())
    product = definition.add_matrix_multiply(x, trt.MatrixOperation.NONE, w, trt.MatrixOperation.NONE)
    threshold = definition.add_activation(product.get_output(0), trt.ActivationType.RELU)
    threshold.get_output(0).name = "y"
    definition.mark_output(threshold.get_output(0))
    built = builder.build_serialized_network(definition, builder.create_builder_config())
    if built is None:
        raise RuntimeError("TensorRT could not build an engine; its reason is in the output")
    engine = trt.Runtime(logger).deserialize_cuda_engine(built)
    if engine is None:
        raise RuntimeError("TensorRT could not load the engine that it had built; its reason is in the output")
    return engine


def _run(bench: Bench, context: Any, tensors: Dict[str, Any]) -> bool:
    if not hasattr(context, "set_tensor_address"):  # before TensorRT 8.5
        bench.synchronize()
        return bool(context.execute_v2([tensor.data_ptr() for tensor in tensors.values()]))
    for name, tensor in tensors.items():
        context.set_tensor_address(name, tensor.data_ptr())
    stream = bench.torch.cuda.Stream(bench.device)
    stream.wait_stream(bench.torch.cuda.current_stream(bench.device))
    done = bool(context.execute_async_v3(stream_handle=stream.cuda_stream))
    stream.synchronize()
    return done


CHECKS = (
    Check("compiled-function", "fp32", compiled_function, FULL),
    Check("compiled-module", "fp32", compiled_module, FULL),
    Check("compiled-dynamic", "fp32", compiled_dynamic, FULL),
    Check("xformers-attention", "fp16", xformers_attention, FULL, on_cpu=False),
    Check("torch-tensorrt", "fp32", torch_tensorrt_module, FULL, on_cpu=False),
    Check("tensorrt-engine", "fp32", tensorrt_engine, FULL, on_cpu=False),
)
