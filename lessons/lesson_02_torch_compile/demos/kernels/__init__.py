"""bias + GELU + LayerNorm + residual as one Triton kernel, and the steps that lead from a first draft to the limit.

    gelu      four GELUs for use in a kernel          block     the kernels and `fused_block`, which launches them
    steps     the way from draft to limit, as data    accuracy  what is right, in float64, and inputs that are hard
    clock     the floor, graph replays, cold cache    bench     all of it measured on one GPU
    timeline  one call's CPU and GPU as rows of text

A demo puts its own folder on `sys.path` and imports `kernels.block`. Nothing here needs a GPU to be imported, and with
TRITON_INTERPRET=1 set before the import the same kernels run on the CPU.
"""
