"""The blank and the edge inputs: what is locked, what a line means, and who judges."""
