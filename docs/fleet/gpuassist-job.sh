#!/bin/sh
# A job of Slurm whose torch figures Prometheus scrapes: `srun gpuassist-job.sh python train.py`, one task a node.
#
# TARGETS is a directory that the nodes and Prometheus share (file_sd_configs in prometheus.yml). The figures carry the
# job's number as `hpc_job`. The status is the command's own; nothing of it is changed where gpuassist cannot listen.
set -u
targets=${TARGETS:-/shared/gpuassist-targets}
listen=${LISTEN:-$(hostname -f 2>/dev/null || hostname)}
port=${PORT:-$((20000 + ${SLURM_JOB_ID:-0} % 20000))}
target="$targets/${SLURM_JOB_ID:-0}-$(hostname -s 2>/dev/null || hostname).json"

gpuassist monitor --headless --export "$listen:$port" >/dev/null &
exporter=$!
# shellcheck disable=SC2317  # the trap calls it
leave() {
    rm -f "$target"
    kill "$exporter" 2>/dev/null && wait "$exporter"
}
trap 'leave' EXIT
trap 'exit 143' TERM
trap 'exit 130' INT
# whole, or not at all: Prometheus may read it at any moment
if printf '[{"targets": ["%s:%s"], "labels": {"hpc_job": "%s"}}]\n' "$listen" "$port" "${SLURM_JOB_ID:-0}" >"$target.new"; then
    mv "$target.new" "$target"
fi

gpuassist run -- "$@" &
command=$!
trap 'kill -TERM "$command" 2>/dev/null; wait "$command"; exit 143' TERM
trap 'kill -INT "$command" 2>/dev/null; wait "$command"; exit 130' INT
wait "$command"
exit $?
