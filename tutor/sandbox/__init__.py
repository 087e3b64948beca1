"""Runs code that nobody vouches for, and tells what it claims. Start with `policy.py` and `layers.py`."""

from tutor.sandbox.client import Cancelled, LayerState, Sandbox, SandboxUnavailable, Template
from tutor.sandbox.outcome import Outcome, Result, Returned
from tutor.sandbox.policy import EXTRA, MINIMUM, strength

__all__ = [
    "EXTRA",
    "MINIMUM",
    "Cancelled",
    "LayerState",
    "Outcome",
    "Result",
    "Returned",
    "Sandbox",
    "SandboxUnavailable",
    "Template",
    "strength",
]
