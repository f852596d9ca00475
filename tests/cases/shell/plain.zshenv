export ZDOTDIR=$HOME/.config/zsh
export CUDA_HOME=/opt/cuda
export PATH="$CUDA_HOME/bin:$PATH"
[[ -o interactive ]] || export CUDA_VISIBLE_DEVICES=0
skip_global_compinit=1
if [[ $OSTYPE == linux* && -z ${SSH_TTY:-} ]]; then
  export "LD_LIBRARY_PATH=$CUDA_HOME/lib64"
fi
. "$HOME/.cargo/env"
