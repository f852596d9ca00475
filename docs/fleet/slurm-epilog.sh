#!/bin/sh
# Epilog= of slurm.conf: takes back what slurm-prolog.sh wrote, whatever GPUs the job had.
directory=${DCGM_JOBS:-/run/dcgm-jobs}
[ -n "${SLURM_JOB_ID:-}" ] || exit 0
for file in "$directory"/*; do
    case ${file##*/} in *[!0-9]*) continue ;; esac
    [ -f "$file" ] || continue
    left=$(grep -vxF "$SLURM_JOB_ID" "$file")
    if [ -n "$left" ]; then printf '%s\n' "$left" >"$file.new" && mv "$file.new" "$file"; else rm -f "$file"; fi
done
exit 0
