"""Which kernel files are run: one `@triton.jit` kernel, helpers of its own, and literal launch settings (pure).

Everything else is the tutor's: memory, launch, stream, clock, reference. So a file cannot import, keep state between
calls, choose a stream, patch a function or hand anything back; what it can do is load, compute and store.
"""

from __future__ import annotations

import ast
import hashlib
import re
from dataclasses import dataclass

from tutor.model import Message

KERNEL = "fused_kernel"
PARAMETERS = (
    *("x", "bias", "weight", "shift", "residual", "out"),
    *("x_stride", "residual_stride", "out_stride", "eps", "H", "BLOCK"),
)
COMPILE_TIME = ("H", "BLOCK")
#: Characters of a file, and the values that each launch setting may have; the first one is taken when none is named.
FILE_MAX = 20_000
SETTINGS = {"NUM_WARPS": (4, 1, 2, 8, 16, 32), "MAX_BLOCK": (4096, *(1 << n for n in (5, 6, 7, 8, 9, 10, 11, 13, 14)))}

#: No inline assembly, no atomics, no pointers from numbers, no printing: with those a kernel is more than a kernel.
_TL = """
abs arange cast cdiv ceil clamp constexpr cos cumsum div_rn expand_dims erf exp exp2 fdiv flip float16 float32 float64
bfloat16 floor fma full int1 int8 int16 int32 int64 uint8 uint16 uint32 load log log2 max max_contiguous maximum min
minimum multiple_of num_programs program_id range ravel reshape rsqrt sigmoid sin softmax sqrt sqrt_rn static_range
store sum trans view where zeros zeros_like broadcast_to
"""
TL = frozenset(_TL.split())
#: What is written behind a value: `v.to(...)`, `out.dtype.element_ty`, `v.shape`.
OF_VALUES = frozenset(("to", "dtype", "element_ty", "shape", "T"))
_NODES = (
    *(ast.Assign, ast.AugAssign, ast.For, ast.If, ast.Return, ast.Expr, ast.Pass),
    *(ast.Name, ast.Load, ast.Store, ast.Constant, ast.Tuple, ast.Call, ast.keyword, ast.Attribute, ast.Subscript),
    *(ast.Slice, ast.BinOp, ast.UnaryOp, ast.BoolOp, ast.Compare, ast.IfExp),
    *(ast.operator, ast.unaryop, ast.boolop, ast.cmpop),
)
_IMPORTS = ("import triton", "import triton.language as tl")
#: What the first two lines of a Python file may say about its encoding: the other side would read another program.
_COOKIE = re.compile(r"^[ \t\f]*#.*?coding[:=]")
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")


@dataclass(frozen=True, slots=True)
class Kernel:
    """An admitted file: its text as it is run, and how it is launched."""

    text: str
    num_warps: int
    max_block: int


def block(hidden: int, most: int) -> int:
    """BLOCK as the exercise launches a kernel: the next power of two, at most MAX_BLOCK."""
    return min(most, 1 << max(0, hidden - 1).bit_length())


def digest(text: str) -> str:
    """What tells one text from another."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


class _Refused(Exception):
    def __init__(self, key: str, node: ast.AST | None = None, **fields: str | int) -> None:
        super().__init__(key)
        self.message = Message(key, {"line": getattr(node, "lineno", 1), **fields})


def read(text: str) -> Kernel | Message:
    """The kernel in a file, or the sentence that says why it is not run."""
    try:
        return _read(text)
    except _Refused as refused:
        return refused.message
    except SyntaxError as error:
        return Message("kernel.syntax", {"line": error.lineno or 1, "why": str(error.msg)})
    except (MemoryError, RecursionError, ValueError):
        return Message("kernel.nested", {})


def _read(text: str) -> Kernel:
    text = text.replace("\r\n", "\n")
    if len(text) > FILE_MAX:
        raise _Refused("kernel.long", most=FILE_MAX)
    if _CONTROL.search(text) or any(map(_COOKIE.match, text.split("\n")[:2])):
        raise _Refused("kernel.encoding")
    settings = {name: values[0] for name, values in SETTINGS.items()}
    functions: dict[str, ast.FunctionDef] = {}
    constants: set[str] = set()
    for at, node in enumerate(ast.parse(text).body):
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            if ast.unparse(node) not in _IMPORTS:
                raise _Refused("kernel.import", node)
        elif isinstance(node, ast.FunctionDef):
            functions[_new(node.name, node, {*functions, *constants, *settings})] = node
        elif isinstance(node, ast.Assign):
            _assignment(node, settings, constants, functions)
        elif not (at == 0 and _is_text(node)):
            raise _Refused("kernel.statement", node)
    if KERNEL not in functions:
        raise _Refused("kernel.no-kernel")
    for function in functions.values():
        _function(function, {*functions, *constants})
    return Kernel(text, settings["NUM_WARPS"], settings["MAX_BLOCK"])


def _new(name: str, node: ast.AST, taken: set[str]) -> str:
    if name in taken or name in ("tl", "triton", "range") or name.startswith("_"):
        raise _Refused("kernel.name", node, name=name)
    return name


def _is_text(node: ast.AST) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


def _assignment(
    node: ast.Assign, settings: dict[str, int], constants: set[str], functions: dict[str, ast.FunctionDef]
) -> None:
    """NUM_WARPS = 4, or a constant for the kernel: NAME = tl.constexpr(1.5)."""
    name = node.targets[0].id if len(node.targets) == 1 and isinstance(node.targets[0], ast.Name) else ""
    value = node.value
    if name in SETTINGS:
        if not isinstance(value, ast.Constant) or type(value.value) is not int or value.value not in SETTINGS[name]:
            allowed = ", ".join(map(str, sorted(SETTINGS[name])))
            raise _Refused("kernel.setting", node, name=name, allowed=allowed)
        settings[name] = value.value
        return
    if (
        not name
        or not isinstance(value, ast.Call)
        or ast.unparse(value.func) != "tl.constexpr"
        or len(value.args) != 1
        or value.keywords
        or not isinstance(
            value.args[0].operand if isinstance(value.args[0], ast.UnaryOp) else value.args[0], ast.Constant
        )
    ):
        raise _Refused("kernel.statement", node)
    constants.add(_new(name, node, {*functions, *constants}))


def _function(function: ast.FunctionDef, shared: set[str]) -> None:
    if [ast.unparse(each) for each in function.decorator_list] != ["triton.jit"]:
        raise _Refused("kernel.decorator", function, name=function.name)
    given = function.args
    typed = function.returns is not None or bool(getattr(function, "type_params", ()))  # The last from Python 3.12 on.
    if given.vararg or given.kwarg or given.kwonlyargs or given.posonlyargs or given.defaults or typed:
        raise _Refused("kernel.parameters", function, parameters=", ".join(PARAMETERS))
    names = [each.arg for each in given.args]
    if any(each.annotation and ast.unparse(each.annotation) != "tl.constexpr" for each in given.args):
        raise _Refused("kernel.parameters", function, parameters=", ".join(PARAMETERS))
    if function.name == KERNEL:
        compile_time = tuple(each.arg for each in given.args if each.annotation)
        if tuple(names) != PARAMETERS or compile_time != COMPILE_TIME:
            raise _Refused("kernel.parameters", function, parameters=", ".join(PARAMETERS))
    body = function.body[1:] if _is_text(function.body[0]) else function.body
    nodes = [node for statement in body for node in ast.walk(statement)]
    known = {*names, *shared, *(node.id for node in nodes if isinstance(node, ast.Name) and _stored(node))}
    for node in nodes:
        _node(node, known, shared)
    for name in names:
        _new(name, function, shared)


def _stored(name: ast.Name) -> bool:
    return isinstance(name.ctx, ast.Store)


def _node(node: ast.AST, known: set[str], shared: set[str]) -> None:
    if not isinstance(node, _NODES):
        raise _Refused("kernel.construct", node, what=type(node).__name__)
    if isinstance(node, ast.Attribute):
        of_tl = isinstance(node.value, ast.Name) and node.value.id == "tl"
        if not isinstance(node.ctx, ast.Load) or node.attr not in (TL if of_tl else OF_VALUES):
            raise _Refused("kernel.attribute", node, what=ast.unparse(node)[:60])
    if isinstance(node, ast.Name):
        if _stored(node):
            _new(node.id, node, shared)
        elif node.id not in known and node.id not in ("tl", "range"):
            raise _Refused("kernel.unknown", node, name=node.id)
    if isinstance(node, ast.Call):
        callee = node.func
        ours = isinstance(callee, ast.Name) and (callee.id in shared or callee.id == "range")
        if not (ours or isinstance(callee, ast.Attribute)) or any(each.arg is None for each in node.keywords):
            raise _Refused("kernel.call", node, what=ast.unparse(callee)[:60])
    if isinstance(node, ast.Subscript) and not isinstance(node.ctx, ast.Load):
        raise _Refused("kernel.construct", node, what="Subscript")
