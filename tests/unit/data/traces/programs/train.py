import torch

torch.manual_seed(0)
net = torch.nn.Sequential(torch.nn.Linear(16, 32), torch.nn.GELU(), torch.nn.Linear(32, 4))
opt = torch.optim.SGD(net.parameters(), lr=0.1)


@torch.compile
def loss_of(x, y):
    return torch.nn.functional.cross_entropy(net(x), y)


for n in (8, 12, 16):
    loss = loss_of(torch.randn(n, 16), torch.randint(4, (n,)))
    loss.backward()
    opt.step()
    opt.zero_grad()
with torch.no_grad():
    loss_of(torch.randn(8, 16), torch.randint(4, (8,)))
