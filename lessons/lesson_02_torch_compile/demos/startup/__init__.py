"""Ways to start, each measured in a process of its own: the process and its phases."""
