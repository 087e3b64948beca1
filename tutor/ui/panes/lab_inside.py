"""Inside a kernel: two settings are chosen, compiled without a GPU, and read stage by stage beside each other."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

from textual.app import ComposeResult

from tutor.fused.inside import kernel_of
from tutor.fused.source import KERNEL
from tutor.lab import inside, kernels, protocol
from tutor.lab.inside import STAGES, Looks
from tutor.lab.kernel_lines import Pair, Place, Row, beside
from tutor.lab.kernels import Kernel
from tutor.lab.task import task
from tutor.lines import Line, Part, line, wrap
from tutor.literals import safe_text
from tutor.strings import say, text
from tutor.ui.panes.lab_view import CodeLabView
from tutor.ui.store import Store
from tutor.ui.theme import ThemeName
from tutor.ui.views import lab_inside as view
from tutor.ui.views.lab_inside import SIDES, Choice, Side
from tutor.ui.widgets.lines_view import LinesView


class Head(LinesView, can_focus=False):
    """The lines above the code, which stay where they are."""

    HEIGHT: ClassVar[str | int] = 1


class InsideView(CodeLabView):
    """The settings, or the code of the last run."""

    place: ClassVar[str] = "inside"

    def __init__(self, store: Store, theme: ThemeName) -> None:
        super().__init__(store, theme)
        self.kernels = kernels.of_lesson(store.lesson.folder)
        names = list(self.kernels)
        self.choices = [Choice(name) for name in (names[:2] * 2)[:2]]
        self.asked = self.choices
        """The choices as they were compiled."""
        self.looks = Looks()
        self.code = False
        """Whether the code is shown."""
        self.stage = "ttgir"
        self.side: Side = "both"
        self.said = ""
        self.wanted = ""
        self.evidence: str | None = None
        self._pairs: dict[str, list[Pair]] = {}
        self.above = Head(theme)
        self.above.display = False

    def content(self) -> ComposeResult:
        yield self.above
        yield from super().content()

    def words(self, key: str, /, **args: str | int) -> str:
        return text(self.store.lang, f"inside.{key}", **args)

    # --- what is shown -----------------------------------------------------------------------------------------------

    def title(self) -> list[Part]:
        return [(self.words("title"), "title")]

    def refill(self) -> None:
        self.draw_title()
        lang, width = self.store.lang, max(30, self.body.size.width - 1)
        self.above.display = self.code
        if not self.choices:
            self.body.show(wrap([(self.words("none"), "muted")], width))
            return
        if not self.code:
            lines = view.setting_lines(self.choices, self.kernels, self.said, lang, width)
            self.body.show(lines, first=True)
            return
        head = view.head_lines(self.looks, self.asked, self.side, self.stage, lang, width)
        self.above.styles.height = len(head)
        self.above.show(head)
        lines = self._code_lines(width)
        empty = [line((self.words("no-stage-both", stage=self.stage), "caution"))]
        first = lines[0].item if lines else ""
        here = any(row.item == self.body.item for row in lines)
        self.body.show(lines or empty, item=self.body.item if here else first)

    def _code_lines(self, width: int) -> list[Line]:
        if self.side == "both":
            return view.both_lines(self._both(), self.stage, self.shift, width)
        return view.one_lines(self.looks.rows(self.side == "b", self.stage), self.stage, self.shift, width)

    def _both(self) -> list[Pair]:
        if self.stage not in self._pairs:
            self._pairs[self.stage] = beside(self.looks.rows(0, self.stage), self.looks.rows(1, self.stage))
        return self._pairs[self.stage]

    def _row(self) -> Row | None:
        """The line of code under the cursor; of two beside each other the first."""
        kind, _, which = self.body.item.partition(":")
        if kind == "row":
            return self.looks.rows(self.side == "b", self.stage)[int(which)]
        if kind != "pair":
            return None
        pair = self._both()[int(which.rstrip("<>"))]
        return pair.b if which.endswith(">") or pair.a is None else pair.a

    # --- commands ----------------------------------------------------------------------------------------------------

    def can(self, command: str) -> bool:
        if command in ("back", "compare", "shift_left", "shift_right", "found_next", "found_previous"):
            return self.code
        if command in ("add", "run"):
            return not self.code and super().can(command)
        return super().can(command)

    def act_words(self) -> str:
        return self.tr("do_value") if not self.code else self.words("source")

    def choose(self, item: str) -> None:
        del item
        self.do_act()

    def do_act(self) -> None:
        """The next value, or the source line of the line under the cursor."""
        if not self.code:
            self.do_value()
            return
        row = self._row()
        places = row.places if row is not None else ()
        self.say("  <- ".join(map(self._place, places)) if places else self.words("no-place"))

    def _place(self, place: Place) -> str:
        source = safe_text(self.looks.source(place))
        return self.words("from", file=safe_text(Path(place.file).name), line=place.line, text=source)

    def do_value(self) -> None:
        """The next value of the setting under the cursor; with code, the next stage."""
        if self.code:
            self.stage = STAGES[(STAGES.index(self.stage) + 1) % len(STAGES)]
            self.shift = self.body.top = 0
            self.body.at = -1
        else:
            side, _, field = self.body.item.partition(":")
            if field:
                self.choices["ab".index(side)].turn(field, self.kernels)
        self.refill()

    def do_compare(self) -> bool:
        if not self.code:
            return False
        self.side = SIDES[(SIDES.index(self.side) + 1) % len(SIDES)]
        self.body.at, self.body.top = -1, 0
        self.refill()
        return True

    def do_back(self) -> bool:
        if not self.code:
            return False
        self.code = False
        self.body.at, self.body.top = -1, 0
        self.refill()
        return True

    def do_add(self) -> None:
        """A file of the learner's as a kernel of the setting under the cursor."""
        self.tutor.ask_line(self.words("file"), self.add_file)

    def add_file(self, asked: str) -> None:
        path, _, function = asked.rpartition(":") if not asked.endswith(".py") else (asked, "", "")
        file = Path(path or asked).expanduser()
        if not file.is_file():
            self.say(self.words("no-file", path=safe_text(str(file))), "caution")
            return
        own = kernel_of(file) if function in ("", KERNEL) else None
        self.kernels[asked] = own or kernels.of_file(file, function or None)
        side = self.body.item.partition(":")[0] or "a"
        self.choices = self.choices or [Choice(asked), Choice(asked)]
        self.choices["ab".index(side)] = Choice(asked)
        self.refill()

    def look_at(self, kernel: Kernel) -> None:
        """Compile `kernel` beside the lesson's first one, and show both."""
        lesson = next(iter(self.kernels), kernel.name)
        self.kernels[kernel.name] = kernel
        self.choices = [Choice(kernel.name), Choice(lesson)]
        self.code, self.side = False, "both"
        self.body.at, self.body.top = -1, 0
        self.refill()
        self.do_run()

    def _read_anew(self, choice: Choice) -> None:
        """A file of the exercise says itself how it is launched, and may say something else by now."""
        file = self.kernels[choice.kernel].place.get("file")
        found = kernel_of(Path(file)) if file is not None else None
        if found is not None:
            self.kernels[choice.kernel] = found

    def do_found_next(self) -> None:
        self.search(self.wanted)

    def do_found_previous(self) -> None:
        self._find(-1)

    def search(self, wanted: str) -> None:
        self.wanted = wanted
        self._find(1)

    def _find(self, step: int) -> None:
        """The cursor to the next line that way whose whole text, not what is seen of it, holds the words."""
        lines = self._whole() if self.code else []
        for turn in range(1, len(lines) + 1):
            at = (self.body.at + step * turn) % len(lines)
            if self.wanted and self.wanted.casefold() in lines[at].casefold():
                self.body.point(at)
                return
        self.say(self.lv("not-found", words=safe_text(self.wanted)))

    def _whole(self) -> list[str]:
        """For each line that is shown, all its code."""
        if self.side != "both":
            return [row.text for row in self.looks.rows(self.side == "b", self.stage)]
        out = []
        for item in (row.item for row in self.body.lines if row.item):
            pair = self._both()[int(item.removeprefix("pair:").rstrip("<>"))]
            shown = {"<": (pair.a,), ">": (pair.b,)}.get(item[-1], (pair.a, pair.b))
            out.append("\n".join(row.text for row in shown if row is not None))
        return out

    def cited(self) -> str | None:
        return self.evidence

    # --- a run -------------------------------------------------------------------------------------------------------

    def do_run(self) -> bool:
        if self.code or not self.choices:
            return self.do_back()
        if self.running:
            self.say(self.tr("lab_busy"))
            return True
        for choice in self.choices:
            self._read_anew(choice)
        settings = [choice.setting(self.kernels) for choice in self.choices]
        if self.start(task("inside"), device="cpu", params={"settings": settings}):
            self.looks, self._pairs, self.evidence = Looks(), {}, None
            self.asked = [Choice(each.kernel, each.target, each.warps, each.size) for each in self.choices]
            self.said = self.lv("running-now")
            self.refill()
        return True

    def take(self, event: Mapping[str, Any]) -> None:
        match event["event"]:
            case "progress":
                self.said = say(self.store.lang, protocol.message(event["message"]))
            case "observation":
                self.looks.take(event["series"], event["values"])
            case "result":
                small = inside.without_code(event["observed"])
                self.evidence = self.keep_evidence({**event, "observed": small})
            case "ended":
                self._ended(event)

    def _ended(self, event: Mapping[str, Any]) -> None:
        lang = self.store.lang
        problems = [view.problem_words(look, lang) for look in self.looks.looks.values()]
        self.said = " ".join(dict.fromkeys(filter(None, problems)))
        if event["outcome"] != "ok":
            self.said = say(lang, protocol.message(event["message"]))
        elif any(look.texts for look in self.looks.looks.values()):
            self.code, self.shift, self.said = True, 0, ""
            self.body.at, self.body.top = -1, 0
            self.say(self.words("keys"), "muted")  # They hold for every key that follows.
