"""Which programs that keep their environment a process is, by what /proc says of it: command lines as documentation, issues and
systems print them.
"""

from __future__ import annotations

import re

from gpuassist.knowledge.families import Family
from gpuassist.knowledge.resident_programs import ResidentProgram, resident_of
from gpuassist.model.fact import NOT_ASKED
from gpuassist.model.old_environment import ProgramFamily, RunningProgram
from gpuassist.system.process_names import script_name
from tests.knowledge.shipped import KNOWLEDGE
from tests.rows import for_each

_REMOTE = "/home/ubuntu/.vscode-server"
_COMMIT = "ee8c7def80afc00dd6e593ef12f37756d8f504ea"
_STABLE = f"{_REMOTE}/cli/servers/Stable-{_COMMIT}/server"

# The key of the record ("" of none), the name (/proc/PID/comm) and the command line.
PROCESSES = [
    ("tmux", "tmux: server", "tmux new-session -d -s main"),
    ("tmux", "tmux: server", "/usr/bin/tmux -L work"),
    ("tmux", "tmux: server", "tmux"),
    ("", "tmux: client", "tmux attach"),
    ("tmux", "tmate: server", "tmate"),
    ("screen", "screen", "SCREEN -S train"),
    ("screen", "screen", "SCREEN"),
    ("screen", "screen-4.9.0", "SCREEN -dmS train"),
    ("", "screen", "screen -r train"),
    ("zellij", "zellij", "/usr/bin/zellij --server /run/user/1000/zellij/0.43.1/inventive-mountain"),
    ("", "zellij", "zellij attach main"),
    ("mosh", "mosh-server", "mosh-server new -s -c 256 -l LANG=en_US.UTF-8"),
    ("wezterm-mux", "wezterm-mux-ser", "wezterm-mux-server --daemonize"),
    ("dtach", "dtach", "dtach -A /tmp/train bash"),
    ("jupyter", "jupyter-lab", "/home/you/venv/bin/python /home/you/venv/bin/jupyter-lab --no-browser"),
    ("jupyter", "jupyter-noteboo", "/usr/bin/python3 /usr/bin/jupyter-notebook"),
    ("jupyter", "jupyter-server", "/opt/conda/bin/python3.11 /opt/conda/bin/jupyter-server"),
    ("jupyter", "python", "python -m jupyterlab --no-browser --ServerApp.port=50583 --ServerApp.password="),
    ("jupyter", "python3", "python3 -m notebook"),
    ("jupyter", "jupyterhub-sing", "/opt/conda/bin/python3.11 /opt/conda/bin/jupyterhub-singleuser"),
    ("marimo", "marimo", "/home/you/venv/bin/python3 /home/you/venv/bin/marimo edit"),
    ("kernel", "python", "/home/jovyan/miniconda/bin/python -m ipykernel_launcher -f /home/jovyan/kernel-6628f1d1.json"),
    ("kernel", "python3.11", "/usr/bin/python3.11 -Xfrozen_modules=off -m ipykernel_launcher --f=/run/user/1000/k.json"),
    ("kernel", "python", "/opt/conda/bin/python -m spyder_kernels.console -f /home/you/kernel.json"),
    ("vscode-server", "node", f"{_REMOTE}/bin/{_COMMIT}/node {_REMOTE}/bin/{_COMMIT}/out/server-main.js --start-server"),
    ("vscode-server", "node", f"{_REMOTE}/bin/{_COMMIT}/node {_REMOTE}/bin/{_COMMIT}/out/bootstrap-fork --type=extensionHost"),
    ("vscode-server", "node", f"{_STABLE}/node {_STABLE}/out/server-main.js --connection-token=remotessh"),
    ("vscode-server", "sh", f"sh {_REMOTE}/bin/{_COMMIT}/bin/code-server --start-server --host=127.0.0.1"),
    ("vscode-server", "code-8b3775030e", f"{_REMOTE}/code-8b3775030ed1a69b13e4f4c628c612102e30a681 command-shell --cli-data-dir x"),
    (
        "cursor-server",
        "node",
        "/root/.cursor-server/bin/linux-x64/7b98/node /root/.cursor-server/bin/linux-x64/7b98/out/server-main.js --start-server",
    ),
    ("vscode-tunnel", "code", "code tunnel --accept-server-license-terms"),
    ("code-server", "node", "/usr/lib/code-server/lib/node /usr/lib/code-server --bind-addr 0.0.0.0:8080"),
    ("code-server", "node", "/usr/lib/code-server/lib/node /usr/lib/code-server/out/node/entry"),
    ("code-server", "node", "node /usr/lib/code-server/out/node/entry.js --disable-updates"),
    ("vscode", "code", "/usr/share/code/code --no-sandbox"),
    ("vscode", "code", "/proc/self/exe --type=utility --utility-sub-type=node.mojom.NodeService"),
    ("vscode", "codium", "/usr/share/codium/codium --unity-launch"),
    ("cursor", "cursor", "/tmp/.mount_CursorAbc/usr/share/cursor/cursor --type=zygote"),
    ("jetbrains", "java", "/opt/pycharm/jbr/bin/java -classpath /opt/pycharm/lib/platform-loader.jar com.intellij.idea.Main"),
    ("jetbrains", "pycharm", "/opt/pycharm-2025.2/bin/pycharm"),
    (
        "jetbrains-remote",
        "java",
        "/home/you/.cache/JetBrains/RemoteDev/dist/9ac7_pycharm-2025.2/jbr/bin/java -Xms128m com.intellij.idea.Main serverMode",
    ),
    ("jetbrains-remote", "remote-dev-serv", "/opt/pycharm/bin/remote-dev-server run /home/you/train"),
    ("spyder", "spyder", "/usr/bin/python3 /usr/bin/spyder"),
    ("rstudio", "rstudio", "/usr/lib/rstudio/rstudio"),
    ("rstudio-server", "rsession", "/usr/lib/rstudio-server/bin/rsession -u you --session-use-secure-cookies 0"),
    ("emacs-daemon", "emacs", "emacs --daemon"),
    ("emacs-daemon", "emacs", "/usr/bin/emacs --fg-daemon"),
    ("emacs-daemon", "emacs-gtk", "emacs --bg-daemon=work"),
    ("emacs", "emacs", "emacs train.py"),
    ("nvim", "nvim", "nvim --headless --listen /run/user/1000/nvim.sock"),
    ("gnome-terminal", "gnome-terminal-", "/usr/libexec/gnome-terminal-server"),
    ("ptyxis", "ptyxis", "/usr/bin/ptyxis --gapplication-service"),
    ("konsole", "konsole", "/usr/bin/konsole"),
    ("kitty", "kitty", "kitty"),
    ("alacritty", "alacritty", "/usr/bin/alacritty"),
    ("wezterm", "wezterm-gui", "/usr/bin/wezterm-gui start"),
    ("foot", "foot", "foot --server"),
    ("ghostty", "ghostty", "/usr/bin/ghostty --gtk-single-instance=true"),
    ("xterm", "xterm", "xterm"),
    ("terminator", "terminator", "/usr/bin/python3 /usr/bin/terminator"),
    ("xfce4-terminal", "xfce4-terminal", "/usr/bin/xfce4-terminal"),
    ("desktop", "gnome-shell", "/usr/bin/gnome-shell"),
    ("desktop", "gnome-session-b", "/usr/libexec/gnome-session-binary --session=ubuntu"),
    ("desktop", "plasmashell", "/usr/bin/plasmashell --no-respawn"),
    ("desktop", "sway", "sway"),
    ("user-manager", "systemd", "/usr/lib/systemd/systemd --user"),
    ("", "systemd", "/sbin/init"),
    ("shell", "bash", "-bash"),
    ("shell", "zsh", "/usr/bin/zsh -i -l"),
    ("shell", "fish", "fish"),
    ("ollama", "ollama", "/usr/local/bin/ollama serve"),
    ("ray", "raylet", "/opt/conda/lib/python3.11/site-packages/ray/core/src/ray/raylet/raylet --raylet_socket_name=/tmp/r"),
    ("background", "ssh-agent", "ssh-agent -s"),
    ("background", "gpg-agent", "gpg-agent --homedir /home/you/.gnupg --daemon"),
    ("background", "gvfsd-fuse", "/usr/libexec/gvfsd-fuse /run/user/1000/gvfs -f"),
    ("", "python", "python train.py --config tmux"),
    ("", "node", "node server.js"),
    ("", "java", "java -jar minecraft.jar"),
    ("", "vim", "vim /home/you/.vscode-server/data/Machine/settings.json"),
    ("", "python3", "python3 /home/you/code/tmux.py"),
    ("", "tail", "tail -f /usr/lib/code-server/log"),
]


def running(name: str, *words: str) -> RunningProgram:
    return RunningProgram(7, 1, name, words, script_name(" ".join(words)), 0.0, on_terminal=False, variables=NOT_ASKED)


@for_each("key, name, command", PROCESSES)
def test_each_process_is_known_by_what_it_is(key: str, name: str, command: str) -> None:
    found = resident_of(KNOWLEDGE.resident_programs(), running(name, *command.split(" ")))
    assert (found.key if found is not None else "") == key


def test_every_record_is_met_by_a_process_or_says_only_names() -> None:
    met = {key for key, _, _ in PROCESSES}
    unmet = [one for one in KNOWLEDGE.resident_programs() if one.key not in met]
    assert all(one.family in {ProgramFamily.TERMINAL, ProgramFamily.EDITOR, ProgramFamily.SERVER} for one in unmet), unmet
    assert not [one.key for one in unmet if one.paths or one.words]


def test_keys_are_one_each_and_commands_are_there() -> None:
    records = KNOWLEDGE.resident_programs()
    assert len({one.key for one in records}) == len(records)
    for one in records:
        assert all(KNOWLEDGE.commands.record(key, Family.ANY) is not None for key in (*one.sets, *one.unsets))
        assert re.fullmatch(r"20\d\d-\d\d-\d\d", one.checked)
        assert one.source


def test_what_nobody_named_is_none() -> None:
    empty: tuple[ResidentProgram, ...] = ()
    assert resident_of(empty, running("tmux: server", "tmux")) is None
    assert resident_of(KNOWLEDGE.resident_programs(), running("")) is None
