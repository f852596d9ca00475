"""Which programs belong to the desktop: those that draw it, and browsers and the like, which draw by the GPU."""

from __future__ import annotations

DRAWING = frozenset(
    (
        *("Xorg", "X", "Xwayland", "gnome-shell", "gnome-session-binary", "mutter", "kwin_x11", "kwin_wayland", "plasmashell"),
        *("ksmserver", "startplasma-wayland", "sddm", "sddm-greeter", "gdm", "gdm-x-session", "gdm-wayland-session", "lightdm"),
        *("xfwm4", "xfdesktop", "cinnamon", "muffin", "marco", "budgie-wm", "gala", "cosmic-comp", "sway", "Hyprland", "weston"),
        *("river", "niri", "wayfire", "labwc", "picom", "compiz", "i3", "xdg-desktop-portal-gnome", "xdg-desktop-portal-kde"),
    )
)
"""What draws the screen or starts what draws it: to stop one of these ends the desktop session and everything open in it."""

_BROWSING = frozenset(
    (
        *(
            "firefox",
            "firefox-bin",
            "firefox-esr",
            "librewolf",
            "zen",
            "zen-bin",
            "chrome",
            "chromium",
            "chromium-browser",
            "brave",
        ),
        *("google-chrome", "google-chrome-stable", "msedge", "microsoft-edge", "opera", "vivaldi", "vivaldi-bin", "epiphany"),
        *("WebKitWebProcess", "WebKitGPUProcess", "QtWebEngineProcess", "electron", "code", "codium", "cursor", "slack", "discord"),
        *("Discord", "spotify", "teams", "signal-desktop", "obsidian", "steamwebhelper", "telegram-desktop", "thunderbird"),
        *("nautilus", "dolphin", "gnome-control-center", "gnome-terminal-server", "gnome-system-monitor", "ghostty", "kitty"),
        *(
            "alacritty",
            "wezterm-gui",
            "ptyxis",
            "kgx",
            "gnome-text-editor",
            "loupe",
            "evince",
            "totem",
            "systemsettings",
            "krunner",
        ),
    )
)


def program_of(command: str) -> str:
    """The program's name, without its directory and arguments."""
    # A browser and a database write what they do where their arguments were: "postgres: writer", "/usr/lib/firefox/firefox -child".
    return command.split(" ", 1)[0].rpartition("/")[2].rstrip(":")


def is_desktop(command: str) -> bool:
    """Whether a command, or a program's name, belongs to the desktop."""
    return program_of(command) in DRAWING | _BROWSING
