"""A model and a setting to the memory that one GPU needs, part by part, each with how far off it may be."""

from __future__ import annotations

from gpuassist.knowledge.memory_costs import MemoryCosts
from gpuassist.model.estimate import (
    AttentionKernel,
    Estimate,
    EstimatePart,
    EstimateSetting,
    ModelShape,
    Offload,
    Optimizer,
    PartEstimate,
    Precision,
    Quantization,
    ShapeOrigin,
    Sharding,
    Task,
)
from gpuassist.model.text import Text, text
from gpuassist.session.estimate.activations import answering_bytes, kv_cache_bytes, step_memory
from gpuassist.session.estimate.states import ModelStates, quantized_parameters, states_of, stored_in, widened

_GIB = 1 << 30
_COUNTED = text("counted from the config; models of each family in transformers 5.23 have exactly as many")
_BESIDE = text("counted from the config; what reads pictures or sound by its layers and widths alone")
_PARTLY = text("counted from the config, which does not tell enough of all parts")
_STORED = text("counted in the files of the weights")
_ASSUMED = text("from the size alone, as a Llama of that size is built")
_TRACED = text("measured in one traced step of the model itself")
_KEPT = text("checked against traced steps of the same modules (torch 2.13, transformers 5.23)")
_CAST = text("checked against traced steps of the same modules by autocast on the CPU, which casts less than a GPU’s")
_FOREIGN = text("this family was not traced: counted as a Llama's")
_AS_ANOTHER = text("this family is not known: counted as a Llama with these numbers")
# Of 184 families of transformers 5.24, made with what their configs say by themselves and counted on 2026-11-28, nine in ten had
# 39 % fewer to 57 % more.
_ASSUMED_ERROR = (0.4, 0.6)
_ADAPTED = text("with LoRA the real share depends on which matrices have adapters; counted as without")
_WIDENED = text("as PEFT holds them: what is not quantized in 32 bits; others, such as Unsloth, keep 16")
_STATES = text("checked against the ZeRO paper and torch’s own optimizers")
_CACHE = text("checked against published sizes of a token (GPT-2, OPT, Llama 3, DeepSeek-V3)")
_PASSING = text("checked against traced steps; kernels and compilers differ")
_CONTEXT = text("published figures of torch and vLLM; it differs by GPU and driver")
_MARGIN = text("a margin, not a measurement")
_MARGIN_MEASURED = text("as much as torch’s allocator kept beside its tensors in 69 measured steps; a margin")


def estimate(shape: ModelShape, setting: EstimateSetting, costs: MemoryCosts) -> Estimate:
    """What one of the GPUs needs at its worst moment."""
    return _answers(shape, setting, costs) if setting.task is Task.INFER else _trains(shape, setting, costs)


def _answers(shape: ModelShape, setting: EstimateSetting, costs: MemoryCosts) -> Estimate:
    states, several = states_of(shape, setting, costs), max(1, setting.gpus)
    cache = kv_cache_bytes(shape, setting) // several
    found = [
        _weights(shape, setting, states),
        _part(EstimatePart.PASSING, answering_bytes(shape, setting) + states.working, (0.4, 0.4), _PASSING),
        _part(EstimatePart.KV_CACHE, cache, (0.02, 0.05), _CACHE),
    ]
    return _whole(Estimate(tuple(found), None, states.host), setting, costs)


def _trains(shape: ModelShape, setting: EstimateSetting, costs: MemoryCosts) -> Estimate:
    states, step = states_of(shape, setting, costs), step_memory(shape, setting, costs)
    during = step.kept + step.passing + states.casts
    after = states.gradients + states.stepping + step.held
    gradients, activations, passing = states.gradients, step.kept, step.passing + states.casts
    turns = None
    # Gradients are made while activations are let go, and are themselves let go after the step: only the more of both is there at
    # once. Accumulated ones stay, and so do those that DDP or ZeRO hold in buckets.
    if not setting.accumulates and setting.gpus <= 1 and gradients and during:
        if during >= after:
            turns, gradients = (EstimatePart.GRADIENTS, states.gradients), 0
        else:
            turns, activations, passing = (EstimatePart.ACTIVATIONS, during), 0, states.stepping + step.held
    elif states.stepping:
        passing = max(passing, states.stepping + step.held)
    low, high, checked = _error(shape, setting, known=step.known)
    optimizer_error = 0.1 if setting.optimizer in {Optimizer.ADAMW_8BIT, Optimizer.ADAFACTOR} else 0.02
    gradient_errors, optimizer_errors, held = (0.02, 0.05), (0.02, optimizer_error), _STATES
    if shape.assumed:
        gradient_errors, optimizer_errors, held = _ASSUMED_ERROR, _ASSUMED_ERROR, _AS_ANOTHER
    found = [
        _weights(shape, setting, states),
        _part(EstimatePart.GRADIENTS, gradients, gradient_errors, held),
        _part(EstimatePart.OPTIMIZER, states.optimizer, optimizer_errors, held),
        _part(EstimatePart.ACTIVATIONS, activations, (low, high), checked),
        _part(EstimatePart.PASSING, passing + states.working, (0.25, 0.25), _PASSING),
    ]
    return _whole(Estimate(tuple(found), turns, states.host), setting, costs)


def _weights(shape: ModelShape, setting: EstimateSetting, states: ModelStates) -> PartEstimate:
    error, checked = {
        ShapeOrigin.TRACED: (0.005, _TRACED),
        ShapeOrigin.WEIGHTS: (0.005, _STORED),
        ShapeOrigin.CONFIG: (0.01, _COUNTED),
        ShapeOrigin.NUMBERS: (0.05, _ASSUMED),
        ShapeOrigin.SIZE: (0.05, _ASSUMED),
    }[shape.origin]
    if shape.origin is ShapeOrigin.SIZE and shape.experts:
        error = 0.15  # Mixtral 8x7B is met, 8x22B has 5 % fewer; others have more or smaller experts
    if shape.origin is ShapeOrigin.CONFIG and shape.beside:  # parts of ten models were met to 10 %, others may be built otherwise
        error, checked = error + 0.25 * shape.beside / shape.parameters, _BESIDE
    if shape.origin is ShapeOrigin.CONFIG and shape.partly:  # speech and pictures on top of a text model: 3 to 12 %
        error, checked = error + 0.15, _PARTLY
    error = max(error, 0.03 if stored_in(shape, setting) is not Quantization.NONE else 0.0)
    if shape.assumed and shape.origin is ShapeOrigin.CONFIG:
        return _part(EstimatePart.PARAMETERS, states.parameters, _ASSUMED_ERROR, _AS_ANOTHER)
    if widened(shape, setting) and states.parameters:
        parts = setting.gpus if setting.sharding is Sharding.ZERO3 else 1
        narrow = (shape.parameters - quantized_parameters(shape)) * 2 / max(1, parts)
        return _part(EstimatePart.PARAMETERS, states.parameters, (min(1.0, error + narrow / states.parameters), error), _WIDENED)
    return _part(EstimatePart.PARAMETERS, states.parameters, (error, error), checked)


def _error(shape: ModelShape, setting: EstimateSetting, *, known: bool) -> tuple[float, float, Text]:
    if shape.traced is not None:
        return 0.05, 0.1, _TRACED
    if shape.origin in {ShapeOrigin.SIZE, ShapeOrigin.NUMBERS}:
        return 0.35, 0.35, _ASSUMED
    if not known or shape.assumed:
        return 0.3, 0.35, _FOREIGN
    if setting.lora:
        return 0.3, 0.25, _ADAPTED
    return (0.15, 0.2, _CAST) if setting.precision is Precision.AUTOCAST else (0.15, 0.15, _KEPT)


def _whole(tensors: Estimate, setting: EstimateSetting, costs: MemoryCosts) -> Estimate:
    """With what is no tensor of anybody's: CUDA itself, and a margin."""
    found = list(tensors.parts)
    context = costs.amount("context", "cuda")
    beside = costs.amount("context", "nccl" if setting.gpus > 1 else "none")
    value, low, high = (round((getattr(context, name) + getattr(beside, name)) * _GIB) for name in ("value", "low", "high"))
    found.append(PartEstimate(EstimatePart.CONTEXT, value, low, high, _CONTEXT))
    found.append(_margin(tensors, setting, costs))
    notes = () if setting.offload is Offload.NONE else (_host(tensors.host_bytes),)
    return Estimate(tuple(part for part in found if part.size_bytes > 0), tensors.turns, tensors.host_bytes, notes)


def _margin(tensors: Estimate, setting: EstimateSetting, costs: MemoryCosts) -> PartEstimate:
    """What torch's allocator keeps beyond its tensors: little beside those that stay, more beside those that come and go."""
    moving = tensors.of(EstimatePart.ACTIVATIONS) + tensors.of(EstimatePart.PASSING) if setting.task is Task.TRAIN else 0
    eager = setting.attention is AttentionKernel.EAGER
    shares = costs.amount("margin", "moving-eager" if eager else "moving"), costs.amount("margin", setting.task.value)
    value, low, high = (
        round(getattr(shares[0], name) * moving + getattr(shares[1], name) * (tensors.total_bytes - moving))
        for name in ("value", "low", "high")
    )
    return PartEstimate(EstimatePart.MARGIN, value, low, high, _MARGIN_MEASURED if setting.task is Task.TRAIN else _MARGIN)


def _host(host: int) -> Text:
    return text("{size:.1f} GiB of it lie in the computer’s memory, for each GPU", size=host / _GIB)


def _part(kind: EstimatePart, size: int, error: tuple[float, float], checked: Text) -> PartEstimate:
    low, high = error
    return PartEstimate(kind, size, round(size * (1 - low)), round(size * (1 + high)), checked)
