"""A lesson as it lies on the disk: read, and proved whole."""
