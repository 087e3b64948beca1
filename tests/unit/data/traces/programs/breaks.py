import torch

opt = {"backend": "eager"}


def helper(x):
    print("shape", x.shape)
    return x + 1


@torch.compile(**opt)
def step(x):
    y = helper(x) * 2
    scale = y.sum().item()
    if y.mean() > 0:
        y = y * scale
    return y


@torch.compile(**opt)
def loop(x):
    for i in range(3):
        x = x + i
        print("i", i)
    return x


@torch.compile(**opt)
def guarded(x):
    try:
        x = x * 2
        print("in try")
    except ValueError:
        pass
    return x


@torch.compile(**opt)
def nothing(x):
    return x


@torch.compile(backend="eager", fullgraph=True)
def strict(x):
    print("no")
    return x + 1


def bad_backend(_graph, _inputs):
    raise RuntimeError("backend went wrong")


@torch.compile(backend=bad_backend)
def lowered(x):
    return x + 1


def user_bug(x):
    return x @ torch.ones(3, 3)


buggy = torch.compile(user_bug, **opt)

x = torch.ones(4, 4)
step(x)
for each in (loop, guarded, nothing):
    each(x)
for f in (strict, lowered, buggy):
    try:
        f(x)
    except Exception as error:
        print(type(error).__name__, str(error).splitlines()[0])
