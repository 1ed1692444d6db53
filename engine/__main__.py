"""`python -m engine`: see engine/command_line.py."""

import sys

from engine.command_line import main

if __name__ == "__main__":
    sys.exit(main())
