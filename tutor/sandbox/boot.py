"""Starts the warm process: `python -I -S -B boot.py CONTROL_FD`.

The tutor's package is entered as an empty shell that knows only this folder, so that nothing else of the tutor, and
least of all a reference or a wrong version, can be imported here or inherited by a child.
"""

import importlib
import os
import sys
import types

if __name__ == "__main__":
    for name, path in (("tutor", []), ("tutor.sandbox", [os.path.dirname(os.path.abspath(__file__))])):  # noqa: PTH100, PTH120
        shell = types.ModuleType(name)
        shell.__path__ = path
        sys.modules[name] = shell
    importlib.import_module("tutor.sandbox.zygote").serve(int(sys.argv[1]))
