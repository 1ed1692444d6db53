"""Whether a path is a file that can be read to its end, asked before it is opened.

A pipe would wait for a writer, /dev/zero never ends: only an ordinary file is opened here.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path

from engine.errors import DataError, marked


def check_file(path: Path) -> os.stat_result:
    """Return what the disk knows of a file. Raises: DataError if it is not there or is no ordinary file."""
    try:
        found = path.stat()
    except FileNotFoundError:
        raise DataError(marked("engine", "There is no file {path}. Check its name."), path=path) from None
    except PermissionError:
        raise unreadable(path) from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise DataError(
            marked("engine", "{path} cannot be read: {reason}."), path=path, reason=reason.rstrip(".")
        ) from error
    if stat.S_ISDIR(found.st_mode):
        raise DataError(marked("engine", "{path} is a folder. Choose a file in it."), path=path)
    if not stat.S_ISREG(found.st_mode):
        template = marked(
            "engine", "{path} is not an ordinary file but a pipe or a device. Choose a file on the disk."
        )
        raise DataError(template, path=path)
    return found


def unreadable(path: Path) -> DataError:
    """Return the refusal of a file whose permissions forbid reading."""
    template = marked("engine", "{path} may not be read by you. Change its permissions, or copy it.")
    return DataError(template, path=path)
