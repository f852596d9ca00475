# ~/.config/fish/config.fish
if status is-interactive
    # Commands to run in interactive sessions can go here
    set -g fish_greeting
    abbr -a gs git status
end

set -gx CUDA_HOME /usr/local/cuda-12.1
set -gx PATH $CUDA_HOME/bin $PATH
set -x LD_LIBRARY_PATH $CUDA_HOME/lib64:$LD_LIBRARY_PATH
fish_add_path ~/.local/bin "$HOME/go bin"
fish_add_path --append --path /opt/cuda/bin

if test -d /usr/local/cuda-11.8; and not set -q USE_NEW_CUDA
    set -gxp PATH /usr/local/cuda-11.8/bin
    set -gx CUDA_HOME /usr/local/cuda-11.8
else if test -d /opt/cuda
    set -gx CUDA_HOME /opt/cuda
else
    set -e CUDA_HOME
end

function use_cuda --argument-names version --description 'use_cuda 12.4'
    set -gx CUDA_HOME /usr/local/cuda-$version
    set -gx PATH $CUDA_HOME/bin (string match -v '*/cuda-*/bin' $PATH)
end

for dir in ~/.config/fish/local.d/*.fish
    source $dir
end

switch (uname -m)
    case x86_64
        set -gx LIBRARY_PATH /opt/cuda/lib64
    case '*'
        set -gx LIBRARY_PATH /opt/cuda/lib
end

test -d /opt/bin; and set -gx PATH /opt/bin $PATH
set -gx CPATH /opt/cuda/include \
    /opt/more/include
begin
    set -l tmp /tmp/x
    set -gx CUDA_PATH $tmp
end
pyenv init - | source
# >>> conda initialize >>>
# !! Contents within this block are managed by 'conda init' !!
if test -f /home/you/miniconda3/bin/conda
    eval /home/you/miniconda3/bin/conda "shell.fish" "hook" $argv | source
end
# <<< conda initialize <<<
set -gx CUDA_VISIBLE_DEVICES 0,1; set -gx CUDA_DEVICE_ORDER PCI_BUS_ID
echo "a string with # no comment and (no command) and \$PATH"
starship init fish | source
