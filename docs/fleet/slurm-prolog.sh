#!/bin/sh
# Prolog= of slurm.conf: tells dcgm-exporter (--hpc-job-mapping-dir /run/dcgm-jobs) which job has which GPU, so that its
# figures carry hpc_job. Slurm takes a node that fails a prolog out of service: this one never fails a job.
directory=${DCGM_JOBS:-/run/dcgm-jobs}
[ -n "${SLURM_JOB_ID:-}" ] || exit 0
mkdir -p "$directory" || exit 0
for gpu in $(printf '%s' "${SLURM_JOB_GPUS:-}" | tr ',' ' '); do
    case $gpu in *[!0-9]*) continue ;; esac
    # jobs may share a GPU: a line each
    grep -qxF "$SLURM_JOB_ID" "$directory/$gpu" 2>/dev/null || printf '%s\n' "$SLURM_JOB_ID" >>"$directory/$gpu"
done
exit 0
