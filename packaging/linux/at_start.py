"""Runs before a packaged Cloze: programs that it starts, such as ssh, get the system's libraries.

The program itself has read by now where its own are, from a variable that all that it starts would get too.
"""

import os

before = os.environ.pop("LD_LIBRARY_PATH_ORIG", None)
os.environ.pop("LD_LIBRARY_PATH", None)
if before:
    os.environ["LD_LIBRARY_PATH"] = before
