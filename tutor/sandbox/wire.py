"""The frames between the tutor and its warm process.

A frame is kind (one byte), number of the check, length of what follows. To the warm process: `J` a job (JSON), `C`
cancel. From it: `H` hello, with the state of every wall; `R` a result: one line of JSON about how the child ended, then
what it wrote on the result pipe, then the beginning of what it printed.
"""

from __future__ import annotations

import struct

FRAME = struct.Struct("!cII")

#: The first line on the result pipe: after the last wall, before any foreign byte is read.
READY = b"ready\n"
