"""A terminal tutor for torch.compile, used over SSH on shared GPU boxes."""

__version__ = "0.2.0"
