# Source global definitions
if [ -f /etc/bashrc ]; then
        . /etc/bashrc
fi

[[ $- != *i* ]] && return

# User specific environment
if ! [[ "$PATH" =~ "$HOME/.local/bin:$HOME/bin:" ]]
then
    PATH="$HOME/.local/bin:$HOME/bin:$PATH"
fi
export PATH

export MODULEPATH=/opt/modulefiles:$HOME/modulefiles:$MODULEPATH
module purge
module load gcc/12.3 cuda/12.2
if [[ $HOSTNAME == gpu* ]]; then
    module swap cuda cuda/11.8
    export CUDA_VISIBLE_DEVICES=${SLURM_JOB_GPUS:-0}
fi
ml load openmpi

# Uncomment the following line if you don't like systemctl's auto-paging feature:
# export SYSTEMD_PAGER=

if [ -d ~/.bashrc.d ]; then
        for rc in ~/.bashrc.d/*; do
                if [ -f "$rc" ]; then
                        . "$rc"
                fi
        done
fi
unset rc

job_script() {
    cat > "$1" <<'SLURM'
#!/bin/bash
#SBATCH --gres=gpu:1
export PATH=/opt/cuda/bin:$PATH
export CUDA_HOME=/opt/cuda
srun python train.py
SLURM
}

cat <<-NOTICE
	Welcome to $(hostname).
	PATH=/not/an/assignment:$PATH
	NOTICE

case $(uname -m) in
    x86_64)
        export LD_LIBRARY_PATH=/opt/cuda/lib64:/opt/cuda/extras/CUPTI/lib64:$LD_LIBRARY_PATH ;;
    aarch64|arm64)
        export LD_LIBRARY_PATH=/opt/cuda/targets/sbsa-linux/lib:$LD_LIBRARY_PATH
        ;;
    *) ;;
esac

for dir in /opt/cuda /usr/local/cuda-10.2; do
    [ -d "$dir/bin" ] && PATH=$dir/bin:$PATH
done
until [ -n "$CUDA_PATH" ]; do CUDA_PATH=/opt/cuda; done
export PATH CUDA_PATH
CUDA_VISIBLE_DEVICES=1 true
export CUDA_HOME=/opt/cuda PATH=/opt/cuda/bin:$PATH LD_LIBRARY_PATH=/opt/cuda/lib64:/opt/cuda/lib64::$LD_LIBRARY_PATH
PATH+=:/opt/cuda/nsight-compute; PATH+=:/opt/cuda/stubs
(cd /tmp; export PATH=/subshell:$PATH)
{ export CPLUS_INCLUDE_PATH=/opt/cuda/include; }
unset CUDA_PATH
