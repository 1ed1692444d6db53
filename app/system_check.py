"""Whether a window can be opened here, asked before Qt is loaded: Qt itself would abort without a sentence.

Imports neither Qt nor torch.
"""

from __future__ import annotations

import ctypes
import importlib.util
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from engine.errors import captioned, listed, marked, sentences
from engine.language import said
from engine.own_process import command_words, is_packaged

# library -> (Debian and Ubuntu, Fedora); what is not listed is named by its file
PACKAGES = {
    "libEGL.so.1": ("libegl1", "libglvnd-egl"),
    "libGL.so.1": ("libgl1", "libglvnd-glx"),
    "libGLX.so.0": ("libglx0", "libglvnd-glx"),
    "libOpenGL.so.0": ("libopengl0", "libglvnd-opengl"),
    "libxkbcommon.so.0": ("libxkbcommon0", "libxkbcommon"),
    "libxkbcommon-x11.so.0": ("libxkbcommon-x11-0", "libxkbcommon-x11"),
    "libxcb-cursor.so.0": ("libxcb-cursor0", "xcb-util-cursor"),
    "libxcb-icccm.so.4": ("libxcb-icccm4", "xcb-util-wm"),
    "libxcb-image.so.0": ("libxcb-image0", "xcb-util-image"),
    "libxcb-keysyms.so.1": ("libxcb-keysyms1", "xcb-util-keysyms"),
    "libxcb-render-util.so.0": ("libxcb-render-util0", "xcb-util-renderutil"),
    "libxcb-util.so.1": ("libxcb-util1", "xcb-util"),
    "libxcb.so.1": ("libxcb1", "libxcb"),
    "libX11.so.6": ("libx11-6", "libX11"),
    "libX11-xcb.so.1": ("libx11-xcb1", "libX11-xcb"),
    "libSM.so.6": ("libsm6", "libSM"),
    "libICE.so.6": ("libice6", "libICE"),
    "libfontconfig.so.1": ("libfontconfig1", "fontconfig"),
    "libfreetype.so.6": ("libfreetype6", "freetype"),
    "libdbus-1.so.3": ("libdbus-1-3", "dbus-libs"),
    "libglib-2.0.so.0": ("libglib2.0-0", "glib2"),
    "libgthread-2.0.so.0": ("libglib2.0-0", "glib2"),
    "libwayland-client.so.0": ("libwayland-client0", "libwayland-client"),
    "libwayland-cursor.so.0": ("libwayland-cursor0", "libwayland-cursor"),
    "libwayland-egl.so.1": ("libwayland-egl1", "libwayland-egl"),
}
XCB_PARTS = re.compile(r"libxcb-(randr|render|shape|shm|sync|xfixes|xkb|glx|xinerama|xinput)\.so\.\d+")


def why_no_window() -> str:
    """Return one sentence on why no window can be opened here; empty when it can. Linux only."""
    if not sys.platform.startswith("linux"):
        return ""
    platform = os.environ.get("QT_QPA_PLATFORM", "").split(";")[0].split(":")[0]
    if not platform and not os.environ.get("DISPLAY") and not os.environ.get("WAYLAND_DISPLAY"):
        return no_display(said(marked("engine", "There is no display here to open a window on.")))
    missing = missing_libraries(platform)
    if missing:
        return install_sentence(missing)
    uses_x = platform == "xcb" or (not platform and not os.environ.get("WAYLAND_DISPLAY"))
    if uses_x and not _display_answers():
        reached = marked("engine", "The display “{name}” cannot be reached.")
        return no_display(said(reached, name=os.environ.get("DISPLAY", "")))
    return ""


def no_display(why: str) -> str:
    """Return why there is no window, and what works without one."""
    engine = " ".join(command_words())
    template = marked("engine", "Without a window, use `{demo}`, or `{command}` (see `{help}`).")
    instead = said(
        template,
        demo="cloze demo",
        command=f"{engine} finetune --data FILE --text COLUMN --label COLUMN --model DIR --run DIR",
        help=f"{engine} --help",
    )
    return captioned("cloze", sentences((why, instead)))


def install_sentence(missing: Iterable[str]) -> str:
    """Return which system libraries Qt lacks, and the line that installs them."""
    names = sorted(set(missing))
    template = marked(
        "engine", "Qt needs system libraries that are missing here ({names}). Install them: {command}"
    )
    line = install_line(names, _has_dnf())
    return captioned("cloze", said(template, names=listed(names), command=line))


def install_line(libraries: Sequence[str], fedora: bool) -> str:
    """Return the shell line that installs the packages of these libraries."""
    packages = sorted({_package(library, fedora) for library in libraries})
    return ("sudo dnf install -y " if fedora else "sudo apt-get install -y ") + " ".join(packages)


def missing_from_error(error: ImportError) -> list[str]:
    """Return the library that an import of Qt has missed ("libEGL.so.1: cannot open shared object file")."""
    found = re.match(r"(lib[\w.+-]+\.so[.\d]*): cannot open shared object", str(error))
    return [found.group(1)] if found else []


def or_what_is_missing(run: Callable[[], int]) -> int:
    """Return the exit code of what loads Qt; 2, and a sentence, where a library of the system is missing."""
    try:
        return run()
    except ImportError as error:
        missing = missing_from_error(error)
        if not missing:
            raise
        print(install_sentence(missing), file=sys.stderr)
        return 2


def missing_libraries(platform: str = "") -> list[str]:
    """Return the shared libraries that Qt's window system plugin lacks; empty when one plugin is complete."""
    spec = importlib.util.find_spec("PySide6")
    if spec is None or not spec.submodule_search_locations:
        return []
    folder = Path(next(iter(spec.submodule_search_locations))) / "Qt"
    on_wayland = bool(os.environ.get("WAYLAND_DISPLAY"))
    wanted = [platform] if platform else ["wayland", "xcb"] if on_wayland else ["xcb"]
    found: list[str] = []
    for name in wanted:
        plugins = sorted((folder / "plugins" / "platforms").glob(f"libq{name}*.so"))
        if not plugins:
            continue
        lacks = lacking([plugins[0], folder / "lib" / "libQt6Widgets.so.6"])
        if not lacks:
            return []
        found = lacks
    return found


def lacking(files: Sequence[Path]) -> list[str]:
    """Return the libraries that the loader does not find for these files."""
    ldd = None if is_packaged() else shutil.which("ldd")  # it does not know what a packaged program brings
    there = [str(file) for file in files if file.exists()]
    if ldd is None or not there:
        return [name for file in there for name in _lacking_one(file)]
    try:
        done = subprocess.run([ldd, *there], capture_output=True, text=True, timeout=10, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return []
    return sorted(
        {line.split(" => ")[0].strip() for line in done.stdout.splitlines() if "=> not found" in line}
    )


def _lacking_one(file: str) -> list[str]:
    try:
        ctypes.CDLL(file)
    except OSError as error:
        return missing_from_error(ImportError(str(error)))
    return []


def _display_answers() -> bool:
    """Whether the X server in DISPLAY takes a connection; true where that cannot be asked."""
    try:
        xcb = ctypes.CDLL("libxcb.so.1")
    except OSError:
        return True
    xcb.xcb_connect.restype = ctypes.c_void_p
    xcb.xcb_connection_has_error.argtypes = xcb.xcb_disconnect.argtypes = [ctypes.c_void_p]
    connection = xcb.xcb_connect(None, None)
    answers = xcb.xcb_connection_has_error(connection) == 0
    xcb.xcb_disconnect(connection)
    return bool(answers)


def _has_dnf() -> bool:
    return shutil.which("apt-get") is None and shutil.which("dnf") is not None


def _package(library: str, fedora: bool) -> str:
    part = XCB_PARTS.fullmatch(library)
    if part:
        return "libxcb" if fedora else f"libxcb-{part.group(1)}0"
    names = PACKAGES.get(library)
    return names[fedora] if names else library
