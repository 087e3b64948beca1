"""A TORCH_TRACE folder explained without torch: its records read, a job told rank by rank, what to do."""
