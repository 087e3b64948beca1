"""Runs code that nobody vouches for, and tells what it claims. Start with `policy.py` and `layers.py`."""

from tutor.sandbox.client import Cancelled, LayerState, Sandbox, SandboxUnavailable, Template
from tutor.sandbox.outcome import Outcome, Result, Returned

__all__ = ["Cancelled", "LayerState", "Outcome", "Result", "Returned", "Sandbox", "SandboxUnavailable", "Template"]
