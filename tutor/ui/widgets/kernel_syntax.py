"""Colours of the compiler's texts: Pygments for Python and PTX, two small lexers for MLIR and NVIDIA's assembly."""

from __future__ import annotations

from functools import lru_cache

from pygments.lexer import RegexLexer
from pygments.lexers.ptx import PtxLexer
from pygments.token import Comment, Keyword, Name, Number, String, Text

from tutor.lines import Role
from tutor.ui.widgets import syntax


class MlirLexer(RegexLexer):
    """The operations of any dialect, values, attributes and numbers."""

    name = "MLIR"
    url = "https://mlir.llvm.org/docs/LangRef/"
    tokens = {
        "root": [
            (r"//[^\n]*", Comment.Single),
            (r'"[^"\n]*"', String),
            (r"[%^#!@][\w.$-]+", Name),
            (r"[a-z_]\w*(?:\.\w+)+", Keyword),
            (r"\b(?:module|attributes|dense|to|step|iter_args)\b", Keyword),
            (r"-?\b\d+(?:\.\d+)?(?:[eE][+-]?\d+)?\b", Number),
            (r"\w+|\s+|[^\w\s]", Text),
        ]
    }


class SassLexer(RegexLexer):
    """What nvdisasm and cuobjdump print: an address, a predicate, an instruction, its operands."""

    name = "SASS"
    url = "https://docs.nvidia.com/cuda/cuda-binary-utilities/"
    tokens = {
        "root": [
            (r"/\*[^*\n]*\*/|//[^\n]*", Comment),
            (r'"[^"\n]*"', String),
            (r"@!?U?P\w+", Name),
            (r"\.\w[\w.$-]*", Keyword),
            (r"\b-?(?:U?[RP]\d+|URZ|RZ|U?PT|SR_\w+(?:\.\w+)*)\b", Name),
            (r"\b[A-Z][A-Z0-9]+(?:\.[A-Z0-9_]+)*(?=\s)", Keyword),
            (r"-?\b(?:0x[0-9a-f]+|\d+(?:\.\d+)?(?:e[+-]?\d+)?)\b", Number),
            (r"\w+|\s+|[^\w\s]", Text),
        ]
    }


_LEXERS = {"ttir": MlirLexer, "ttgir": MlirLexer, "ptx": PtxLexer, "sass": SassLexer}


@lru_cache(maxsize=12)
def spans(stage: str, text: str) -> list[list[tuple[int, int, Role]]]:
    """For each line of a stage's text, its coloured stretches as (start, end, role) in characters."""
    if stage == "source":
        return syntax.spans(text)
    return syntax.lexed(_LEXERS[stage](stripnl=False, ensurenl=False), text)
