"""`python -m tutor`: the screen, or one command of the command line."""

from __future__ import annotations

import sys


def main() -> int:
    """Entry point of the installed command."""
    try:
        from tutor.cli.main import run

        return run(sys.argv[1:])
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main())
