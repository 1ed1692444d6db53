"""`python -m engine`: see engine/commands/command_line.py."""

import sys

from engine.commands.command_line import main

if __name__ == "__main__":
    sys.exit(main())
