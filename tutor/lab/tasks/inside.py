"""Looks inside Triton kernels: what the compiler makes of each for a target, without a GPU.

params: `settings`, a list of: `folder` (goes on `sys.path`) and `module`, or `file`, a learner's own; `function`, the
kernel's name (None: the only one whose parameters are all known), or `inductor`, the name of a function of the module
whose kernel Inductor writes, for what the module's function `examples` gives for the sizes in `constants`; `types`, a
Triton type for each run-time parameter by its name ("*bf16", "i32", "fp32"); `constants`, a value for each compile-time
one, where a text that names a function of the module, or MODULE:NAME, means that function; `warps`, 0 for Inductor's
own choice; `target`, a compute capability (80, 90, 100).
A file may say its types itself, as a dict TYPES; the defaults of its compile-time parameters are their values.
Observed: `compiler`, then for each setting, which `setting` counts from 0: `kernel`, `code` for each stage in pieces of
PIECE characters, `needs`; or `problem` when it is the kernel's own. `file`: the sources that the stages point into.
"""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import os
import re
import sys
import traceback
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

# A learner's shell may ask for the interpreter, under which nothing is compiled.
os.environ.pop("TRITON_INTERPRET", None)

import triton
from triton.compiler.errors import CompilationError
from triton.runtime import JITFunction

if TYPE_CHECKING:
    from tutor.lab.child import Lab
    from tutor.lab.tasks import inductor_kernel, kernel_code


def _beside(name: str) -> Any:
    """A module of this folder, which is not on the path."""
    spec = importlib.util.spec_from_file_location(f"tutor_{name}", Path(__file__).with_name(f"{name}.py"))
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


if not TYPE_CHECKING:
    kernel_code = _beside("kernel_code")

#: The rows that Inductor is told of, as the lesson's smallest size has them, and warps that stand for its own choice.
ROWS, AS_CHOSEN = (8, 256), 0
#: Characters of code in one event, which is bounded at 64 KiB: with room for what JSON adds.
PIECE = 20_000
#: Of one source file, and of what the compiler says of a mistake, in characters.
FILE_MAX, SAID_MAX = 200_000, 1500

_SOURCE_FILE = re.compile(r'\bloc\("([^"]+\.py)":')


class Problem(Exception):
    """The kernel cannot be compiled as it was asked for: `kind`, and what its sentence names."""

    def __init__(self, kind: str, **fields: Any) -> None:
        super().__init__(kind)
        self.kind = kind
        self.fields = fields


def run(lab: Lab) -> None:
    lab.observe("compiler", {"triton": str(triton.__version__)})
    told: set[str] = set()
    for number, asked in enumerate(lab.params["settings"]):
        try:
            one(lab, number, asked, told)
        except Problem as problem:
            lab.observe("problem", {"setting": number, "kind": problem.kind, **problem.fields})


def one(lab: Lab, number: int, asked: Mapping[str, Any], told: set[str]) -> None:
    """One kernel for one target. Raises Problem. `told` are the files whose text was said before."""
    module, warps = load(asked), int(asked["warps"])
    if "inductor" in asked:
        made = generated(lab, module, asked)
        kernel, types, constants = made.kernel, made.types, made.constants
        warps = made.warps if asked["warps"] == AS_CHOSEN else warps
    else:
        kernel, types, constants = kernel_of(module, asked)
    file = str(kernel.fn.__code__.co_filename)
    lines, first = inspect.getsourcelines(kernel.fn)
    tell_file(lab, file, told)
    about = {
        "setting": number,
        "name": kernel.fn.__name__,
        "file": file,
        "first": first,
        "last": first + len(lines) - 1,
    }
    lab.observe("kernel", about)
    values = {name: function_of(module, value) for name, value in constants.items()}
    try:
        code = kernel_code.compile_ahead(kernel, types, values, warps=warps, target=int(asked["target"]))
    except CompilationError as error:
        raise compile_problem(error, module, told) from error
    except Exception as error:  # Whatever else stopped Triton or one of its tools is said to who can change it.
        raise Problem("stopped", why=said(error)) from error
    for stage, text in code.stages.items():
        for start in range(0, len(text), PIECE):
            lab.observe("code", {"setting": number, "stage": stage, "text": text[start : start + PIECE]})
    for path in dict.fromkeys(_SOURCE_FILE.findall(code.stages["ttir"])):
        tell_file(lab, path, told)
    needs = {
        "setting": number,
        "registers": code.registers,
        "spilled_bytes": code.spilled_bytes,
        "shared_bytes": code.shared_bytes,
        "instructions": dict(code.instructions) if code.instructions is not None else None,
    }
    lab.observe("needs", needs, call=f"{kernel.fn.__name__} sm_{asked['target']}")


def generated(lab: Lab, module: ModuleType, asked: Mapping[str, Any]) -> inductor_kernel.Generated:
    """The kernel that Inductor writes for a function of the module. Raises Problem."""
    try:
        inputs = getattr(module, asked["examples"])((*ROWS, int(asked["constants"]["H"])), "cpu")
        # Only now, since it imports the whole of Inductor.
        made: inductor_kernel.Generated = _beside("inductor_kernel").generate(
            getattr(module, asked["inductor"]), inputs, int(asked["target"]), lab.cache / "inductor_kernels"
        )
    except Exception as error:  # Whatever stopped torch is said: it is another version's way of writing kernels.
        raise Problem("stopped", why=said(error)) from error
    return made


# --- which kernel -----------------------------------------------------------------------------------------------------


def load(asked: Mapping[str, Any]) -> ModuleType:
    """The module that holds the kernel. Raises Problem when a learner's own file cannot be run."""
    if "file" not in asked:
        if asked["folder"] not in sys.path:
            sys.path.insert(0, asked["folder"])
        return importlib.import_module(asked["module"])
    path = Path(asked["file"])
    if str(path.parent) not in sys.path:
        sys.path.insert(0, str(path.parent))
    spec = importlib.util.spec_from_file_location("lab_kernel", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    try:
        spec.loader.exec_module(module)
    except SyntaxError as error:
        raise Problem("file", file=str(path), line=error.lineno or 0, why=said(error)) from error
    except Exception as error:
        lines = [step.lineno for step in traceback.extract_tb(error.__traceback__) if step.filename == str(path)]
        raise Problem("file", file=str(path), line=(lines or [0])[-1] or 0, why=said(error)) from error
    return module


def kernel_of(module: ModuleType, asked: Mapping[str, Any]) -> tuple[Any, dict[str, str], dict[str, Any]]:
    """The kernel with a type or a value for each of its parameters. Raises Problem."""
    there = {name: found for name, value in vars(module).items() if (found := jit_function(value)) is not None}
    name = asked.get("function")
    if not there or (name is not None and name not in there):
        raise Problem("none", name=name or "", names=", ".join(there))
    if name is None:
        own = {each: kernel for each, kernel in there.items() if kernel.fn.__module__ == module.__name__} or there
        known = [each for each, kernel in own.items() if len(own) == 1 or not lacking(kernel, module, asked)]
        if len(known) != 1:
            raise Problem("which", names=", ".join(known or own))
        name = known[0]
    kernel = there[name]
    parameters = list(kernel.arg_names)
    strangers = [each for each in (*asked["types"], *asked["constants"]) if each not in parameters]
    if strangers:
        raise Problem("parameter", name=strangers[0], names=", ".join(parameters))
    missing = lacking(kernel, module, asked)
    if missing:
        raise Problem("value" if missing[0] in compile_time(kernel) else "type", name=missing[0])
    types, constants = meanings(kernel, module, asked)
    for each, kind in types.items():
        if not isinstance(kind, str) or not re.fullmatch(r"\*?k?\*?(?:[iu]\d+|fp\d+\w*|bf16|f\d+)", kind):
            raise Problem("type-unknown", name=each, type=str(kind)[:60])
    return kernel, types, constants


def jit_function(value: Any) -> Any:
    """The function that @triton.jit made, also inside @triton.autotune and the like; None for anything else."""
    while not isinstance(value, JITFunction):
        value = getattr(value, "fn", None) if type(value).__module__.startswith("triton.") else None
        if value is None:
            return None
    return value


def compile_time(kernel: Any) -> set[str]:
    return {parameter.name for parameter in kernel.params if parameter.is_constexpr}


def meanings(kernel: Any, module: ModuleType, asked: Mapping[str, Any]) -> tuple[dict[str, str], dict[str, Any]]:
    """What is known of the kernel's parameters: their types, and the values of the compile-time ones."""
    own = getattr(module, "TYPES", None) if "file" in asked else None
    names = set(kernel.arg_names) - compile_time(kernel)
    types = {**(own if isinstance(own, dict) else {}), **asked["types"]}
    defaults = {
        name: parameter.default
        for name, parameter in inspect.signature(kernel.fn).parameters.items()
        if parameter.default is not inspect.Parameter.empty
    }
    constants = {**defaults, **asked["constants"]}
    types = {name: kind for name, kind in types.items() if name in names and name not in asked["constants"]}
    return types, {name: value for name, value in constants.items() if name not in types}


def lacking(kernel: Any, module: ModuleType, asked: Mapping[str, Any]) -> list[str]:
    types, constants = meanings(kernel, module, asked)
    return [name for name in kernel.arg_names if name not in types and name not in constants]


def function_of(module: ModuleType, value: Any) -> Any:
    """The function that a text names, any other value as it is."""
    if isinstance(value, str) and ":" in value:
        place, _, name = value.partition(":")
        return getattr(importlib.import_module(place), name)
    return getattr(module, value) if isinstance(value, str) and hasattr(module, value) else value


# --- what is said -----------------------------------------------------------------------------------------------------


def tell_file(lab: Lab, path: str, told: set[str]) -> None:
    """A source that the stages point into, once."""
    if path in told:
        return
    told.add(path)
    try:
        text = Path(path).read_text(encoding="utf-8", errors="replace")[:FILE_MAX]
    except OSError:
        return  # Code that was made from no file, as in a notebook: its lines have numbers and no text.
    for start in range(0, len(text), PIECE):
        lab.observe("file", {"path": path, "text": text[start : start + PIECE]})


def compile_problem(error: CompilationError, module: ModuleType, told: set[str]) -> Problem:
    """What Triton's compiler found, at the innermost line of a file: a helper's own, not its call."""
    while isinstance(error.__cause__, CompilationError):
        error = error.__cause__
    why = error.error_message or said(error)
    path, line = "", 0
    for file in dict.fromkeys([str(module.__file__), *told]):
        text = Path(file).read_text(encoding="utf-8", errors="replace")
        at = text.find(error.src or "\0")
        if at >= 0:
            path, line = file, text.count("\n", 0, at) + int(getattr(error.node, "lineno", None) or 1)
            break
    return Problem("compile", file=path, line=line, why=str(why)[:SAID_MAX])


def said(error: BaseException) -> str:
    text = str(error).strip()
    return (f"{type(error).__name__}: {text}" if text else type(error).__name__)[:SAID_MAX]
