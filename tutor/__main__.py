"""`python -m tutor`: the screen, or one command of the command line."""

from __future__ import annotations

import gc
import sys


def main() -> int:
    """Entry point of the installed command."""
    # A tenth of the start would be spent collecting garbage that is none. Whoever runs long turns it on again.
    gc.disable()
    try:
        from tutor.cli.main import run

        return run(sys.argv[1:])
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main())
