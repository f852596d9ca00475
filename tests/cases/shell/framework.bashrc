# Enable the subsequent settings only in interactive sessions
case "$-" in
  *i*) ;;
    *) return;;
esac

# Path to your oh-my-bash installation.
export OSH=~/.oh-my-bash
OSH_THEME="font"
OMB_USE_SUDO=true
completions=(
  git
  composer
  ssh
)
aliases=(
  general
)
plugins=(
  git
  bashmarks
)
# Which plugins would you like to conditionally load? (plugins can be found in ~/.oh-my-bash/plugins/*)
#  if [ "$DISPLAY" ] || [ "$SSH" ]; then
#      plugins+=(tmux-autoattach)
#  fi
[ -f "$OSH"/oh-my-bash.sh ] && source "$OSH"/oh-my-bash.sh

# User configuration
export MANPATH="/usr/local/man:$MANPATH"
export LANG=en_US.UTF-8
if [[ -n $SSH_CONNECTION ]]; then
  export EDITOR='vim'
else
  export EDITOR='mvim'
fi

add_to_path() {
  case ":$PATH:" in
    *":$1:"*) ;;
    *) PATH="$1${PATH:+:$PATH}" ;;
  esac
}
add_to_path "$HOME/.local/bin"
add_to_path /usr/local/cuda/bin
export PATH

CUDA_VERSION=12.1
if [ -d "/usr/local/cuda-${CUDA_VERSION}" ]; then
  export CUDA_HOME="/usr/local/cuda-${CUDA_VERSION}"
  export PATH="${CUDA_HOME}/bin:${PATH}"
  export LD_LIBRARY_PATH="${CUDA_HOME}/lib64${LD_LIBRARY_PATH:+:${LD_LIBRARY_PATH}}"
elif [ -d /opt/cuda ]; then
  export CUDA_HOME=/opt/cuda
  export PATH=$CUDA_HOME/bin:$PATH
else
  unset CUDA_HOME
fi

# BEGIN ANSIBLE MANAGED BLOCK cuda
export PATH=/usr/local/cuda-10.2/bin:$PATH
# END ANSIBLE MANAGED BLOCK cuda

export BUN_INSTALL="$HOME/.bun"
export PATH="$BUN_INSTALL/bin:$PATH"
export PNPM_HOME="/home/you/.local/share/pnpm"
case ":$PATH:" in
  *":$PNPM_HOME:"*) ;;
  *) export PATH="$PNPM_HOME:$PATH" ;;
esac
eval "$(direnv hook bash)"
eval "$(starship init bash)"
[ -f ~/.fzf.bash ] && source ~/.fzf.bash
python3 - <<PY
import os
print("PATH=" + os.environ["PATH"])
PY
export TORCH_CUDA_ARCH_LIST="8.6;8.9"   # no variable of ours
alias cuda11='export PATH=/usr/local/cuda-11.8/bin:$PATH'
[ -d /usr/local/cuda-11.8 ] &&
  export PATH=/usr/local/cuda-11.8/bin:$PATH \
         LD_LIBRARY_PATH=/usr/local/cuda-11.8/lib64:$LD_LIBRARY_PATH
