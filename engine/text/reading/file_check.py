"""Opening a file that a person chose, with a sentence for all that can be wrong with it.

A pipe would wait for a writer, /dev/zero never ends: only an ordinary file is opened here.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from io import BufferedReader
from pathlib import Path

from engine.errors import DataError, marked
from engine.files import open_regular


def check_readable(path: Path) -> os.stat_result:
    """Return what the disk knows of a file. Raises: DataError if it is not there or is no ordinary file."""
    try:
        found = path.stat()
    except FileNotFoundError:
        raise DataError(marked("engine", "There is no file {path}. Check its name."), path=path) from None
    except PermissionError:
        raise _forbidden(path) from None
    except (OSError, ValueError) as error:
        raise unread(path, error) from error
    if stat.S_ISDIR(found.st_mode):
        raise DataError(marked("engine", "{path} is a folder. Choose a file in it."), path=path)
    if not stat.S_ISREG(found.st_mode):
        template = marked(
            "engine", "{path} is not an ordinary file but a pipe or a device. Choose a file on the disk."
        )
        raise DataError(template, path=path)
    return found


@contextmanager
def opened(path: Path) -> Iterator[BufferedReader]:
    """Give a file to read. Raises: DataError, also where the operating system refuses a later byte."""
    check_readable(path)
    try:
        with open_regular(path, kind=DataError) as file:
            yield file
    except DataError as refused:
        if isinstance(refused.__cause__, PermissionError):
            raise _forbidden(path) from None
        raise
    except OSError as error:
        raise unread(path, error) from error


def unread(path: Path, error: Exception) -> DataError:
    """Return the refusal of a file that could not be read for a reason of the operating system's."""
    reason = getattr(error, "strerror", None) or str(error) or type(error).__name__
    return DataError(
        marked("engine", "{path} cannot be read: {reason}."), path=path, reason=reason.rstrip(".")
    )


def _forbidden(path: Path) -> DataError:
    template = marked("engine", "You may not read {path}. Change its permissions, or copy it.")
    return DataError(template, path=path)
