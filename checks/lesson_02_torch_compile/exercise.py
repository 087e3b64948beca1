"""What the trusted judge knows of `guard_key`. Nothing in this file ever enters the learner's process.

`catalog.py` loads it by path and reads GIVEN, WRONG, `reference`, `probes` and `malformed`.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Collection, Iterable

from tutor.language import Bilingual
from tutor.model import Assertion, Call, Message, Plain, WrongVersion

Key = tuple[tuple[int | str, ...], str, str]
Shape = tuple[int, ...]
Dims = Collection[int]

#: Bounds of an edge input. Rank 64 is as far as torch's own tensors go; sizes are torch's 64-bit integers.
RANK_MAX = 64
SIZE_MAX = 2**63 - 1
NAME_MAX = 40

GIVEN = (
    Assertion(
        id="given-1",
        args=((2, 128, 4096), {0, 1}, "bf16", "cuda"),
        expected=(("*", "*", 4096), "bf16", "cuda"),
        hint=Bilingual(
            zh="形状一样，输入换成 float32：为 bf16 编译好的代码，这次还敢用吗？",
            en="Same shape, but a float32 input comes in: would you run the code that was compiled for bf16?",
        ),
    ),
    Assertion(
        id="given-2",
        args=((8, 256, 4096), {0, 1}, "bf16", "cuda"),
        expected=(("*", "*", 4096), "bf16", "cuda"),
        hint=Bilingual(
            zh="B 和 S 都和上一次不同，key 却应该相同。key 里的哪一部分做到了这一点？",
            en="B and S are not what they were, yet the key has to be. Which part of the key sees to that?",
        ),
    ),
)


def _check(shape: Shape, dims: Dims) -> None:
    if any(dim < 0 or dim >= len(shape) for dim in dims):
        raise ValueError("dynamic dim out of range")


def _guarded(shape: Shape, dims: Iterable[int]) -> tuple[int | str, ...]:
    dynamic = set(dims)
    return tuple("*" if place in dynamic else size for place, size in enumerate(shape))


def reference(shape: Shape, dynamic_dims: Dims, dtype: str, device: str) -> Key:
    """The right `guard_key`. Raises ValueError for a dynamic dim that the shape does not have."""
    _check(shape, dynamic_dims)
    return _guarded(shape, dynamic_dims), dtype, device


# --- inputs that nobody can foresee -----------------------------------------------------------------------------------


#: Words that exist, other than those of the given assertions: an answer cannot be right for made-up names alone.
_DTYPES = ("f16", "f32", "f64", "fp8", "i8", "i32", "i64", "bool")
_DEVICES = ("cuda:0", "cuda:1", "cpu", "mps", "xpu", "meta")


def probes(rng: random.Random, count: int = 17) -> tuple[Call, ...]:
    """`count` well-formed calls, drawn anew for each run: some from anywhere and, where there is room, the near and the
    far ones.

    From anywhere: ranks 0 to 5 in turn, dims as set, list and tuple in turn. Ranks 3 and 5 repeat one size and mark
    some dims but not all, so that replacing by value shows. Sizes 0 and 1 are common. dtype and device are in turn
    made-up names, with capitals and an index, and words that exist.

    Near: a given input with one thing changed that belongs to its key. An answer that is written down for a part of
    what was given meets the rest.

    Far: as far as an edge input may go, in each respect. An answer cannot be right for inputs of the usual size alone.

    None is out of range: there the locked lines raise before the blank is reached.
    """
    more = _near(rng) + _far(rng) if count >= 17 else ()
    ranks = [index % 6 for index in range(count - len(more))]
    rng.shuffle(ranks)
    return tuple(_probe(rng, rank, index) for index, rank in enumerate(ranks)) + more


def _probe(rng: random.Random, rank: int, index: int) -> Call:
    if rank in (3, 5):
        sizes = [rng.randint(2, 9999)] * rank
        dims = rng.sample(range(rank), rng.randint(1, rank - 1))
    else:
        sizes = [rng.choice((0, 1, rng.randint(2, 9999), rng.randint(2, 9999))) for _ in range(rank)]
        dims = rng.sample(range(rank), rng.randint(0, rank))
    dtype, device = f"T{rng.randrange(16**6):06X}", f"Dev{rng.randrange(10**4)}:{rng.randrange(8)}"
    if index % 2:
        dtype, device = rng.choice(_DTYPES), rng.choice(_DEVICES)
    container: Callable[[list[int]], Dims] = (set, list, tuple)[index % 3]
    return Call((tuple(sizes), container(dims), dtype, device))


def _near(rng: random.Random) -> tuple[Call, ...]:
    """For each given input: another dtype, another device, other dynamic dims; then one with another last size, and the
    other with one dim more or less."""
    near = []
    for given in rng.sample(GIVEN, 2):
        shape, dims, dtype, device = given.args
        assert isinstance(shape, tuple)
        near.append(Call((shape, dims, rng.choice(_DTYPES), device)))
        near.append(Call((shape, dims, dtype, rng.choice(_DEVICES))))
        near.append(Call((shape, rng.choice([{0}, {1}, {0, 2}, {1, 2}, {0, 1, 2}]), dtype, device)))
        size = rng.choice([size for size in (0, 1, rng.randint(2, 9999)) if size != shape[-1]])
        other = (*shape[:-1], size) if len(near) == 3 else rng.choice([(*shape, size), shape[:-1]])
        near.append(Call((other, dims, dtype, device)))
    return tuple(near)


def _far(rng: random.Random) -> tuple[Call, ...]:
    """Many dims, sizes that neither 32 bits nor a float hold, dims as a frozenset, long names; repeated dims and names
    that are empty; names with spaces and letters that are not ASCII."""
    rank = rng.randint(8, RANK_MAX)
    # Few of them are long: somebody may have to read it.
    sizes = [rng.randint(0, 9) for _ in range(rank - 2)] + [rng.randrange(1 << 40), SIZE_MAX - 2 * rng.randrange(99)]
    dims = frozenset(rng.sample(range(rank - 1), rng.randint(1, 6)))
    names = ["".join(rng.choices("abcXYZ0189._:-", k=NAME_MAX)) for _ in range(2)]
    repeated = [rng.randrange(3) for _ in range(4)]
    spaced = [f" {rng.choice('Éßд你')}{rng.randrange(10**6)} {rng.choice('aB')} " for _ in range(2)]
    return (
        Call((tuple(sizes), dims, *names)),
        Call((tuple(rng.randint(0, 1 << 40) for _ in range(3)), repeated, "", "")),
        Call((tuple(rng.randint(2, 9999) for _ in range(3)), (rng.randrange(3),), *spaced)),
    )


# --- the form of an edge input ----------------------------------------------------------------------------------------


def malformed(args: tuple[Plain, ...]) -> Message | None:
    """Why these arguments are no input of `guard_key`: a sentence that says what to write. None when they are one."""
    if len(args) != 4:
        return Message("check.args_count", {"count": len(args)})
    shape, dims, dtype, device = args
    if type(shape) is not tuple or not all(type(size) is int and 0 <= size <= SIZE_MAX for size in shape):
        return Message("check.args_shape")
    if len(shape) > RANK_MAX:
        return Message("check.args_rank", {"rank": len(shape), "most": RANK_MAX})
    if type(dims) not in (set, frozenset, list, tuple) or not all(type(dim) is int for dim in dims):
        return Message("check.args_dims")
    if len(dims) > RANK_MAX:
        return Message("check.args_many_dims", {"count": len(dims), "most": RANK_MAX})
    for name, value in (("dtype", dtype), ("device", device)):
        if type(value) is not str:
            return Message("check.args_text", {"name": name})
        if len(value) > NAME_MAX:
            return Message("check.args_long", {"name": name, "most": NAME_MAX})
    return None


# --- mistakes that somebody makes -------------------------------------------------------------------------------------
# Each differs from the reference, and from every other one, on some well-formed input.

_mistakes: list[WrongVersion] = []


def _mistake(
    zh: str, en: str, given_catches: Bilingual | None = None
) -> Callable[[Callable[..., Plain]], Callable[..., Plain]]:
    def keep(run: Callable[..., Plain]) -> Callable[..., Plain]:
        _mistakes.append(WrongVersion(run.__name__.replace("_", "-"), Bilingual(zh=zh, en=en), run, given_catches))
        return run

    return keep


@_mistake("完全不检查下标的范围", "no range check at all")
def no_range_check(shape: Shape, dims: Dims, dtype: str, device: str) -> Plain:
    return _guarded(shape, dims), dtype, device


@_mistake("只查上界，负数下标被悄悄放过", "checks the upper bound only, so a negative dim slips through")
def no_lower_check(shape: Shape, dims: Dims, dtype: str, device: str) -> Plain:
    if any(dim >= len(shape) for dim in dims):
        raise ValueError("dynamic dim out of range")
    return _guarded(shape, dims), dtype, device


@_mistake("只查下界，过大的下标被悄悄放过", "checks the lower bound only, so a dim that is too large slips through")
def no_upper_check(shape: Shape, dims: Dims, dtype: str, device: str) -> Plain:
    if any(dim < 0 for dim in dims):
        raise ValueError("dynamic dim out of range")
    return _guarded(shape, dims), dtype, device


@_mistake("上界差一：等于 rank 的下标也放行", "upper bound off by one: a dim equal to the rank passes")
def upper_off_by_one(shape: Shape, dims: Dims, dtype: str, device: str) -> Plain:
    if any(dim < 0 or dim > len(shape) for dim in dims):
        raise ValueError("dynamic dim out of range")
    return _guarded(shape, dims), dtype, device


@_mistake("下界差一：-1 也放行", "lower bound off by one: -1 passes")
def lower_off_by_one(shape: Shape, dims: Dims, dtype: str, device: str) -> Plain:
    if any(dim < -1 or dim >= len(shape) for dim in dims):
        raise ValueError("dynamic dim out of range")
    return _guarded(shape, dims), dtype, device


@_mistake("负数下标从末尾数起，像 Python 的索引", "negative dims count from the end, as Python's indices do")
def negative_from_the_end(shape: Shape, dims: Dims, dtype: str, device: str) -> Plain:
    if any(dim < -len(shape) or dim >= len(shape) for dim in dims):
        raise ValueError("dynamic dim out of range")
    return _guarded(shape, (dim % len(shape) for dim in dims)), dtype, device


@_mistake("越界时抛的是 IndexError", "raises IndexError when a dim is out of range")
def wrong_exception(shape: Shape, dims: Dims, dtype: str, device: str) -> Plain:
    if any(dim < 0 or dim >= len(shape) for dim in dims):
        raise IndexError("dynamic dim out of range")
    return _guarded(shape, dims), dtype, device


@_mistake("越界时返回 None，不抛异常", "returns None when a dim is out of range")
def returns_none(shape: Shape, dims: Dims, dtype: str, device: str) -> Plain:
    if any(dim < 0 or dim >= len(shape) for dim in dims):
        return None
    return _guarded(shape, dims), dtype, device


@_mistake("把越界的下标拉回最近的合法位置", "moves a dim that is out of range to the nearest legal one")
def clamped(shape: Shape, dims: Dims, dtype: str, device: str) -> Plain:
    return _guarded(shape, (min(max(dim, 0), len(shape) - 1) for dim in dims)), dtype, device


@_mistake("any 写成了 all：全部越界才报错", "all in place of any: raises only when every dim is out of range")
def all_for_any(shape: Shape, dims: Dims, dtype: str, device: str) -> Plain:
    if all(dim < 0 or dim >= len(shape) for dim in dims):
        raise ValueError("dynamic dim out of range")
    return _guarded(shape, dims), dtype, device


@_mistake("只比较下标的个数，不看下标的值", "checks how many dims are given, not which")
def count_checked(shape: Shape, dims: Dims, dtype: str, device: str) -> Plain:
    if len(dims) > len(shape):
        raise ValueError("dynamic dim out of range")
    return _guarded(shape, dims), dtype, device


@_mistake("把断言里的答案写死", "the answer of the assertions, written down")
def hard_coded(shape: Shape, dims: Dims, dtype: str, device: str) -> Plain:  # noqa: ARG001
    _check(shape, dims)
    return ("*", "*", 4096), "bf16", "cuda"


@_mistake(
    "按尺寸的值替换：同样大小的静态维也成了通配",
    "wildcards by size, not by place: a static dim of equal size goes too",
)
def wildcard_by_value(shape: Shape, dims: Dims, dtype: str, device: str) -> Plain:
    _check(shape, dims)
    dynamic_sizes = {shape[dim] for dim in dims}
    return tuple("*" if size in dynamic_sizes else size for size in shape), dtype, device


@_mistake("永远把第 0、1 维当作动态维", "always makes dims 0 and 1 dynamic")
def always_first_two(shape: Shape, dims: Dims, dtype: str, device: str) -> Plain:
    _check(shape, dims)
    return _guarded(shape, (0, 1)), dtype, device


@_mistake("只看有几个动态维，从第 0 维开始替换", "counts the dynamic dims and fills up from dim 0")
def wildcard_by_count(shape: Shape, dims: Dims, dtype: str, device: str) -> Plain:
    _check(shape, dims)
    return _guarded(shape, range(len(set(dims)))), dtype, device


@_mistake(
    "最小和最大的动态维之间全换成通配",
    "makes everything from the lowest to the highest dynamic dim a wildcard",
)
def gap_filled(shape: Shape, dims: Dims, dtype: str, device: str) -> Plain:
    _check(shape, dims)
    return _guarded(shape, range(min(dims), max(dims) + 1) if dims else ()), dtype, device


@_mistake(
    "有一个动态维，就全部当作动态",
    "one dynamic dim makes all of them dynamic",
    Bilingual(
        zh="给定断言里 4096 是静态维，它会被换成通配",
        en="4096 is static in both given assertions and would become a wildcard",
    ),
)
def one_means_all(shape: Shape, dims: Dims, dtype: str, device: str) -> Plain:
    _check(shape, dims)
    return _guarded(shape, range(len(shape)) if dims else ()), dtype, device


@_mistake("没有动态维时，当作全部动态", "reads no dynamic dims as all dynamic")
def none_means_all(shape: Shape, dims: Dims, dtype: str, device: str) -> Plain:
    _check(shape, dims)
    return _guarded(shape, dims or range(len(shape))), dtype, device


@_mistake("没有动态维时报错", "refuses an input without dynamic dims")
def none_refused(shape: Shape, dims: Dims, dtype: str, device: str) -> Plain:
    if not dims:
        raise ValueError("no dynamic dim")
    _check(shape, dims)
    return _guarded(shape, dims), dtype, device


@_mistake("最后一维永远保持静态", "never makes the last dim dynamic")
def last_dim_static(shape: Shape, dims: Dims, dtype: str, device: str) -> Plain:
    _check(shape, dims)
    return _guarded(shape, (dim for dim in dims if dim != len(shape) - 1)), dtype, device


@_mistake(
    "动态维的尺寸是 0 或 1 时仍写定值，像 Dynamo 的特化",
    "keeps a dynamic size of 0 or 1 static, as Dynamo specialises it",
)
def zero_one_static(shape: Shape, dims: Dims, dtype: str, device: str) -> Plain:
    _check(shape, dims)
    return _guarded(shape, (dim for dim in dims if shape[dim] > 1)), dtype, device


@_mistake("把尺寸 0 当作空值，换成通配", "takes size 0 for nothing and makes it a wildcard")
def zero_is_dynamic(shape: Shape, dims: Dims, dtype: str, device: str) -> Plain:
    _check(shape, dims)
    return tuple(size or "*" for size in _guarded(shape, dims)), dtype, device


@_mistake("只接受三维形状", "takes shapes of rank 3 only")
def rank_3_only(shape: Shape, dims: Dims, dtype: str, device: str) -> Plain:
    batch, sequence, hidden = shape
    _check(shape, dims)
    return _guarded((batch, sequence, hidden), dims), dtype, device


@_mistake("第三维之后的尺寸被丢掉", "drops every size after the third")
def cut_at_rank_3(shape: Shape, dims: Dims, dtype: str, device: str) -> Plain:
    _check(shape, dims)
    return _guarded(shape, dims)[:3], dtype, device


@_mistake("空形状 () 会出错", "fails on the empty shape ()")
def empty_shape_fails(shape: Shape, dims: Dims, dtype: str, device: str) -> Plain:
    _check(shape, dims)
    first, *rest = _guarded(shape, dims)
    return (first, *rest), dtype, device


@_mistake("dynamic_dims 是 list 或 tuple 时出错", "fails when dynamic_dims is a list or a tuple")
def set_dims_only(shape: Shape, dims: Dims, dtype: str, device: str) -> Plain:
    if dims - set(range(len(shape))):  # type: ignore[operator]
        raise ValueError("dynamic dim out of range")
    return _guarded(shape, dims), dtype, device


@_mistake("同一个动态维写两次就报错", "refuses a dynamic dim that is given twice")
def repeated_dims_refused(shape: Shape, dims: Dims, dtype: str, device: str) -> Plain:
    _check(shape, dims)
    if len(dims) != len(set(dims)):
        raise ValueError("a dynamic dim is given twice")
    return _guarded(shape, dims), dtype, device


@_mistake('dtype 永远是 "bf16"', 'dtype is always "bf16"')
def dtype_constant(shape: Shape, dims: Dims, dtype: str, device: str) -> Plain:  # noqa: ARG001
    _check(shape, dims)
    return _guarded(shape, dims), "bf16", device


@_mistake('device 永远是 "cuda"', 'device is always "cuda"')
def device_constant(shape: Shape, dims: Dims, dtype: str, device: str) -> Plain:  # noqa: ARG001
    _check(shape, dims)
    return _guarded(shape, dims), dtype, "cuda"


@_mistake("把 dtype 的长名改写成短名", "rewrites a long dtype name to its short one")
def dtype_normalised(shape: Shape, dims: Dims, dtype: str, device: str) -> Plain:
    _check(shape, dims)
    short = {"bfloat16": "bf16", "float16": "f16", "half": "f16", "float32": "f32", "float": "f32"}
    return _guarded(shape, dims), short.get(dtype, dtype), device


@_mistake("丢掉 device 的编号：cuda:1 变成 cuda", "drops the device's index: cuda:1 becomes cuda")
def device_index_dropped(shape: Shape, dims: Dims, dtype: str, device: str) -> Plain:
    _check(shape, dims)
    return _guarded(shape, dims), dtype, device.split(":")[0]


@_mistake("把 dtype 和 device 改成小写", "lower-cases dtype and device")
def lower_case(shape: Shape, dims: Dims, dtype: str, device: str) -> Plain:
    _check(shape, dims)
    return _guarded(shape, dims), dtype.lower(), device.lower()


@_mistake("静态尺寸向上取整到 64 的倍数", "rounds static sizes up to a multiple of 64")
def static_rounded_up(shape: Shape, dims: Dims, dtype: str, device: str) -> Plain:
    _check(shape, dims)
    return _guarded(tuple(-(-size // 64) * 64 for size in shape), dims), dtype, device


WRONG = tuple(_mistakes)
