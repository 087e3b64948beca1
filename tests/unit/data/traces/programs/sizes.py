import torch


@torch.compile(backend="eager")
def head(x, w):
    return (x @ w).relu()


class Counter(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.step = 0

    def forward(self, x):
        self.step += 1
        return x * self.step


w = torch.ones(8, 8)
for n in (4, 6, 9, 1):
    head(torch.ones(n, 8), w)
head(torch.ones(4, 8, dtype=torch.float64), w.double())
head(torch.ones(4, 8), torch.ones(8, 8).t())
m = torch.compile(Counter(), backend="eager")
for _ in range(12):
    m(torch.ones(4))
