"""Ways to start, each measured in a process of its own: the process, its phases, and the table of what was recorded."""
