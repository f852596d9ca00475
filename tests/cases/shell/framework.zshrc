# Enable Powerlevel10k instant prompt. Should stay close to the top of ~/.zshrc.
if [[ -r "${XDG_CACHE_HOME:-$HOME/.cache}/p10k-instant-prompt-${(%):-%n}.zsh" ]]; then
  source "${XDG_CACHE_HOME:-$HOME/.cache}/p10k-instant-prompt-${(%):-%n}.zsh"
fi

# If you come from bash you might have to change your $PATH.
export PATH=$HOME/bin:/usr/local/bin:$PATH
export ZSH="$HOME/.oh-my-zsh"
ZSH_THEME="powerlevel10k/powerlevel10k"
zstyle ':omz:update' mode auto
plugins=(git zsh-autosuggestions fzf)
source $ZSH/oh-my-zsh.sh

typeset -U path PATH
typeset -xTU LD_LIBRARY_PATH ld_library_path
path=(/usr/local/cuda-12.1/bin $path)
ld_library_path=(/usr/local/cuda-12.1/lib64 $ld_library_path)
export CUDA_HOME=/usr/local/cuda-12.1

path+=(
  ~/.local/bin(N)
  /opt/cuda/bin(N-/)
)
[[ -d $HOME/go/bin ]] && path=($HOME/go/bin "$path[@]")

if (( $+commands[nvcc] )); then
  export CUDA_PATH=${commands[nvcc]:h:h}
fi

setopt auto_cd extended_glob hist_ignore_dups
autoload -Uz compinit && compinit
bindkey -e
for file in ${ZDOTDIR:-$HOME}/.zsh/*.zsh(N); do
  source $file
done
unset file

() {
  local dir
  for dir in /usr/local/cuda-11.8 /usr/local/cuda-10.2; do
    [[ -d $dir ]] && path=($dir/bin $path)
  done
}

alias -g L='| less'
alias cuda11='export PATH=/usr/local/cuda-11.8/bin:$PATH'
export NVM_DIR="$HOME/.nvm"
[ -s "$NVM_DIR/nvm.sh" ] && \. "$NVM_DIR/nvm.sh"
# >>> conda initialize >>>
# !! Contents within this block are managed by 'conda init' !!
__conda_setup="$('/home/you/miniconda3/bin/conda' 'shell.zsh' 'hook' 2> /dev/null)"
if [ $? -eq 0 ]; then
    eval "$__conda_setup"
else
    if [ -f "/home/you/miniconda3/etc/profile.d/conda.sh" ]; then
        . "/home/you/miniconda3/etc/profile.d/conda.sh"
    else
        export PATH="/home/you/miniconda3/bin:$PATH"
    fi
fi
unset __conda_setup
# <<< conda initialize <<<
eval "$(zoxide init zsh)"
[[ ! -f ~/.p10k.zsh ]] || source ~/.p10k.zsh
