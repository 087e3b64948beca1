"""Every command of the screen once: its keys, where it works, whether the key line shows it. Keys, key line, help and
palette are all made from this table. A command's words are `ui.do_<id>` (short) and `ui.about_<id>` (one sentence)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, NamedTuple

Context = Literal["lesson", "code", "edge", "lab", "answer", "result"]
TABS: tuple[str, ...] = ("lesson", "code", "edge", "lab", "q1", "q2", "q3", "result")


class Command(NamedTuple):
    """`hot` keys work everywhere, in editors too; `keys` only outside editors. `where` is empty for everywhere.

    `editing` and `line` say whether the key line shows the command inside and outside an editor, `palette` whether the
    palette lists it. `writes` marks what a session that only reads cannot do.
    """

    id: str
    keys: tuple[str, ...] = ()
    hot: tuple[str, ...] = ()
    where: tuple[Context, ...] = ()
    editing: bool = False
    line: bool = False
    palette: bool = True
    writes: bool = False


COMMANDS: tuple[Command, ...] = (
    # Where one works comes first in the key line, the general ones last.
    Command("open", ("enter", "i"), where=("code", "answer"), line=True, palette=False, writes=True),
    Command("act", ("enter", "i"), where=("lesson", "edge", "lab", "result"), palette=False),
    Command("run", ("r",), ("f5", "ctrl+r"), ("code", "edge", "lab", "answer"), editing=True, line=True, writes=True),
    Command("stop", ("x", "ctrl+c"), (), ("code", "edge", "lab"), line=True),
    Command("tick", ("space",), (), ("edge", "lab", "answer"), palette=False, writes=True),
    Command("yes", ("y",), (), ("answer",), line=True, palette=False, writes=True),
    Command("no", ("n",), (), ("answer",), line=True, palette=False, writes=True),
    Command("prompt", ("m",), (), ("answer",), line=True, writes=True),
    Command("commit", ("C",), (), ("edge", "answer"), line=True, writes=True),
    Command("doubt", ("D",), (), ("answer",), line=True, writes=True),
    Command("unlock", ("U",), (), ("edge", "answer"), line=True, writes=True),
    Command("versions", ("v",), (), ("answer",), line=True),
    Command("mark", ("m",), (), ("lesson",), line=True),
    Command("figure", ("f",), (), ("lesson", "lab"), line=True),
    Command("add", ("a",), (), ("edge", "lab"), line=True, writes=True),
    Command("delete", ("d",), (), ("edge", "lab"), line=True, writes=True),
    Command("value", ("v",), (), ("lab",), line=True, writes=True),
    Command("files", ("s",), (), ("lab",), line=True),
    Command("compare", ("=",), (), ("lab",), line=True),
    Command("look_inside", ("o",), (), ("lab",), line=True, writes=True),
    Command("back", ("b",), (), ("lab", "answer"), line=True),
    Command("report", ("w",), (), ("result",), line=True),
    Command("hand_in", ("H",), (), ("result",), line=True, writes=True),
    Command("look_again", ("L",), (), ("result",), line=True, writes=True),
    Command("reset", ("R",), (), ("code", "lab"), writes=True),
    Command("cite", ("c",), ("f8", "ctrl+n"), ("answer", "lab"), editing=True, line=True, writes=True),
    Command("found_next", ("n",), (), ("lab",)),
    Command("found_previous", ("p",), (), ("lab",)),
    Command("shift_left", (",",), (), ("lab",)),
    Command("shift_right", (".",), (), ("lab",)),
    Command("device", ("D",), (), ("lab",), writes=True),
    Command("next", ("n",), (), ("lesson",), line=True),
    Command("previous", ("p", "b"), (), ("lesson",), line=True),
    Command("swap", (), ("f2", "ctrl+t"), editing=True, line=True),
    Command("editor", ("e",), ("f4", "ctrl+o"), ("code", "answer", "lab"), editing=True, line=True, writes=True),
    Command("undo", ("u",), (), ("code", "answer", "edge", "lab"), writes=True),
    Command("search", ("/",), (), ("lesson", "lab")),
    Command("fold", ("z",), ()),
    Command("tab_lesson", ("0",)),
    Command("tab_code", ("1",)),
    Command("tab_edge", ("2",)),
    Command("tab_lab", ("3",)),
    Command("tab_q1", ("4",)),
    Command("tab_q2", ("5",)),
    Command("tab_q3", ("6",)),
    Command("tab_result", ("7",)),
    Command("down", ("j", "down"), palette=False),
    Command("up", ("k", "up"), palette=False),
    Command("right", ("l", "right"), palette=False),
    Command("left", ("h", "left"), palette=False),
    Command("page_down", ("space", "pagedown"), palette=False),
    Command("page_up", ("pageup",), palette=False),
    Command("home", ("g", "home"), palette=False),
    Command("end", ("G", "end"), palette=False),
    Command("pane", ("tab",), palette=False),
    Command("language", ("t",), ("f9",), editing=True, line=True),
    Command("help", ("?",), ("f1", "ctrl+g"), editing=True, line=True),
    Command("palette", (":",), ("ctrl+p",), palette=False),
    Command("trace"),
    Command("theme"),
    Command("save", (), ("ctrl+s",)),
    Command("repaint", (), ("ctrl+l",)),
    Command("leave", (), ("ctrl+q",)),
    Command("hint_quit", ("q",), palette=False),
)

_WIDE = str.maketrans("？：；＝－／", "?:;=-/")
_BY_ID = {command.id: command for command in COMMANDS}


def by_id(name: str) -> Command:
    return _BY_ID[name]


def usable(command: Command, context: Context) -> bool:
    return not command.where or context in command.where


def outside(key: str, character: str | None, context: Context) -> Iterator[Command]:
    """The commands that a key pressed outside editors may mean in a context, the most particular first.

    A Chinese input method that stayed on sends full-width marks: they count as the plain ones.
    """
    pressed = {key}
    if character is not None and character.isprintable() and not character.isspace():
        pressed.add(character.translate(_WIDE))
        pressed.discard(key if len(key) > 1 and key not in ("enter", "tab") else "")
    found = [c for c in COMMANDS if usable(c, context) and pressed & set(c.keys)]
    yield from sorted(found, key=lambda command: not command.where)


def hot_keys() -> Iterator[tuple[str, Command]]:
    """Each key that works in editors too, with its command."""
    for command in COMMANDS:
        for key in command.hot:
            yield key, command


def key_label(command: Command, *, editing: bool) -> str:
    """How the key line names a command's key: the plain key outside editors, `F5/^R` inside."""
    if not editing and command.keys:
        return _shown(command.keys[0])
    return "/".join(_shown(key) for key in command.hot[:2])


def all_labels(command: Command) -> str:
    """All keys of a command for the help screen."""
    return " ".join(_shown(key) for key in (*command.hot, *command.keys))


def _shown(key: str) -> str:
    if key.startswith("ctrl+"):
        return "^" + key[5:].upper()
    names = {"enter": "Enter", "space": "Space", "tab": "Tab", "pagedown": "PgDn", "pageup": "PgUp", "escape": "Esc"}
    if key in names:
        return names[key]
    if len(key) > 1:
        return key.capitalize()
    return key
