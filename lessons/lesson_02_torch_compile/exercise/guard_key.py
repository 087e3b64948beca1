def guard_key(shape, dynamic_dims, dtype, device):
    """Cache key of one compiled variant: "*" stands for a dynamic size."""
    for dim in dynamic_dims:
        if dim < 0 or dim >= len(shape):
            raise ValueError("dynamic dim out of range")
    guarded_shape = tuple(
        "*" if dim in dynamic_dims else size
        for dim, size in enumerate(shape)
    )
    # TODO: dtype 和 device 仍属于 guard。
    # TODO: dtype and device still belong to the guard.
    return ______


assert guard_key((2, 128, 4096), {0, 1}, "bf16", "cuda") == (
    ("*", "*", 4096), "bf16", "cuda"
)
assert guard_key((8, 256, 4096), {0, 1}, "bf16", "cuda") == (
    ("*", "*", 4096), "bf16", "cuda"
)
