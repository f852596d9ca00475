"""What lies on a GPU however little is computed: parameters, gradients, the optimizer's state; shared and moved away as asked."""

from __future__ import annotations

from msgspec import Struct

from gpuassist.knowledge.memory_costs import MemoryCosts
from gpuassist.model.estimate import (
    EstimateSetting,
    ModelShape,
    Offload,
    Optimizer,
    Precision,
    Quantization,
    Sharding,
    Task,
)

_FULL, _HALF = 4, 2  # bytes of a number
_ADAPTED = ("router", "shared_expert_gate")  # what adapters are not put beside


class ModelStates(Struct, frozen=True):
    """Bytes on one GPU. `working` is what is gathered for a moment where parameters are shared or lie elsewhere; `stepping` what
    the optimizer's step needs for a moment; `casts` are the copies in 16 bits that autocast keeps while a step is computed;
    `host` lies in the computer's memory.
    """

    parameters: int
    gradients: int
    optimizer: int
    working: int = 0
    stepping: int = 0
    casts: int = 0
    host: int = 0


def stored_in(shape: ModelShape, setting: EstimateSetting) -> Quantization:
    """What the weights are held in: as asked, else as the config says; what is trained as a whole is held in full."""
    if setting.quantization is Quantization.NONE and (setting.task is Task.INFER or setting.lora):
        return shape.quantization
    return setting.quantization


def weight_bytes(shape: ModelShape, setting: EstimateSetting, costs: MemoryCosts) -> int:
    """All of a model's weights as they are held, on as many GPUs as there are."""
    stored = stored_in(shape, setting)
    wide = setting.precision is Precision.FP32 or (setting.task is Task.TRAIN and setting.precision is Precision.AUTOCAST)
    each = _FULL if wide and not setting.lora and stored is Quantization.NONE else _HALF
    if setting.lora and setting.precision is Precision.FP32:
        each = _FULL
    if stored is Quantization.NONE:
        if shape.origin.value == "traced" and shape.traced is not None and setting.task is Task.TRAIN and not setting.lora:
            return shape.traced.parameter_bytes + shape.traced.buffer_bytes
        return shape.parameters * each
    inside = quantized_parameters(shape)
    bits = costs.amount("weights", stored.value).value
    return round(inside * bits / 8) + (shape.parameters - inside) * (_FULL if widened(shape, setting) else each)


def quantized_parameters(shape: ModelShape) -> int:
    """Those of the matrices of the layers: embedding, head and norms are not quantized."""
    inside = sum(one.parameters for one in shape.matrices if one.in_layers) or round(shape.parameters * 0.95)
    return min(inside, shape.parameters)


def widened(shape: ModelShape, setting: EstimateSetting) -> bool:
    """Whether what is not quantized is held in 32 bits: so does PEFT's `prepare_model_for_kbit_training` with the formats of
    bitsandbytes, and what flows between the layers is then in 32 bits as well.
    """
    return setting.task is Task.TRAIN and bool(setting.lora) and stored_in(shape, setting) in _BITSANDBYTES


_BITSANDBYTES = frozenset((Quantization.NF4, Quantization.NF4_DOUBLE, Quantization.INT8))


def adapter_parameters(shape: ModelShape, rank: int) -> int:
    """The parameters of LoRA beside every matrix of the layers: rank × (inputs + outputs) each."""
    inside = [one for one in shape.matrices if one.in_layers and one.name not in _ADAPTED]
    if inside:
        return sum(rank * (one.inputs + one.outputs) * one.count for one in inside)
    # Of a model that only its size is known of: as many as a Llama of that size has.
    return round(rank * (shape.layers or 32) * 17 * (shape.hidden or 4096))


def states_of(shape: ModelShape, setting: EstimateSetting, costs: MemoryCosts) -> ModelStates:
    """What one of the GPUs holds."""
    weights, several = weight_bytes(shape, setting, costs), max(1, setting.gpus)
    if setting.task is Task.INFER:
        working = shape.largest_layer * _HALF * 2 if setting.offload is Offload.ALL else 0
        on_host = weights if setting.offload is Offload.ALL else 0
        return ModelStates((weights - on_host) // several, 0, 0, working=working, host=on_host)
    trained = adapter_parameters(shape, setting.lora) if setting.lora else _trained(shape)
    each = _HALF if setting.precision in {Precision.BF16, Precision.MASTER} and not setting.lora else _FULL
    parameters = weights + (trained * each if setting.lora else 0)
    gradients = trained * each
    optimizer = _optimizer_bytes(trained, each, setting, costs)
    stepping = trained * each if setting.optimizer is Optimizer.ADAMW_FOREACH else 0
    if setting.optimizer is Optimizer.ADAFACTOR and not setting.lora:  # the change of one matrix after the other
        stepping = max((one.inputs * one.outputs for one in shape.matrices), default=0) * each
    casts = _inside(shape) * _HALF if setting.precision is Precision.AUTOCAST and not setting.lora else 0
    return _moved(
        _shared(ModelStates(parameters, gradients, optimizer, 0, stepping, casts), shape, setting, several), shape, setting
    )


def _trained(shape: ModelShape) -> int:
    """All of them, but for what a traced model has frozen."""
    if shape.traced is None or not shape.traced.parameter_bytes:
        return shape.parameters
    return round(shape.parameters * shape.traced.trainable_bytes / shape.traced.parameter_bytes)


def _inside(shape: ModelShape) -> int:
    inside = sum(one.parameters for one in shape.matrices if one.in_layers or one.name == "lm_head")
    return min(inside or shape.parameters, shape.parameters)


def _optimizer_bytes(trained: int, each: int, setting: EstimateSetting, costs: MemoryCosts) -> int:
    """Its state lies in the parameters' own format, and in four bytes beside a copy of them where 16 bits have one."""
    state = costs.amount("optimizer", setting.optimizer.value).value
    master = setting.precision is Precision.MASTER and not setting.lora
    scaled = state if setting.optimizer in {Optimizer.ADAMW_8BIT, Optimizer.ADAFACTOR} or master else state * each / _FULL
    return round(trained * (scaled + (_FULL if master else 0)))


def _shared(states: ModelStates, shape: ModelShape, setting: EstimateSetting, several: int) -> ModelStates:
    if several == 1:
        return states
    if setting.sharding is Sharding.NONE:  # DDP sums gradients in buckets, which are a second copy of them
        working = states.gradients
        return ModelStates(states.parameters, states.gradients, states.optimizer, working, states.stepping, states.casts)
    parameters, gradients, working, casts = states.parameters, states.gradients, 0, states.casts
    if setting.sharding in {Sharding.ZERO2, Sharding.ZERO3}:
        gradients = -(-gradients // several)
    if setting.sharding is Sharding.ZERO3:
        parameters = -(-parameters // several)
        casts = -(-casts // several)
        working = 2 * _gathered(shape, setting)  # that of the layer at work, and the one that is fetched meanwhile
    optimizer = -(-states.optimizer // several)
    return ModelStates(parameters, gradients, optimizer, working, -(-states.stepping // several), casts)


def _gathered(shape: ModelShape, setting: EstimateSetting) -> int:
    each = _FULL if setting.precision is Precision.FP32 else _HALF
    return (shape.largest_layer or shape.parameters // max(1, shape.layers or 32)) * each


def _moved(states: ModelStates, shape: ModelShape, setting: EstimateSetting) -> ModelStates:
    if setting.offload is Offload.NONE:
        return states
    host = states.optimizer + states.gradients
    if setting.offload is Offload.OPTIMIZER:
        passing = 2 * _gathered(shape, setting)  # gradients of a layer on their way
        return ModelStates(states.parameters, 0, 0, max(states.working, passing), 0, states.casts, host)
    return ModelStates(0, 0, 0, max(states.working, 2 * _gathered(shape, setting)), 0, 0, host + states.parameters)
