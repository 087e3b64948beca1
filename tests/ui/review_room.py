"""A generated class with its gradebook, and windows of graders on it: what the tests of the review are made with."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, TypeVar

import pytest
from textual import events
from textual.keys import _character_to_key
from textual.pilot import Pilot
from textual.screen import Screen

from tests.bench.make_class import hand_ins
from tests.ui.learner_app import CHARACTERS, text_of
from tests.ui.settled import settled
from tutor.classroom import exchange, submission
from tutor.classroom.class_book import choose_database
from tutor.classroom.exchange import ClassFolder
from tutor.classroom.intake import questions_of
from tutor.cli.context import context_of
from tutor.cli.parser import parse
from tutor.gradebook.book import Arrival, Gradebook
from tutor.gradebook.database import Database
from tutor.gradebook.scores import Mark
from tutor.lesson import catalog
from tutor.model import Lesson
from tutor.ui.review.app import ReviewApp
from tutor.ui.review.class_list import ClassList
from tutor.ui.review.item import ItemScreen

LEARNERS = 6

AnyScreen = TypeVar("AnyScreen", bound=Screen[Any])


class Room:
    """A class folder with hand-ins in its gradebook, which is SQLite's in the folder unless `url` says otherwise.
    `state` is the graders' own state folder."""

    def __init__(self, path: Path, lesson: Lesson, files: list[bytes], url: str | None = None) -> None:
        self.folder: ClassFolder = exchange.create(path / "class", lesson.id)[0]
        choose_database(self.folder, url)
        self.state = path / "state"
        self.lesson = lesson
        self.url = url or f"sqlite:///{self.folder.private / 'gradebook.sqlite'}"
        self.book = self.open_book()
        arrivals = []
        for number, raw in enumerate(files):
            read = submission.read(raw)
            login = read.author.login
            arrivals.append(Arrival(f"{number}.json", "1", login, float(number), read.made, read.sha256, {}, [], raw))
        self.book.take(arrivals, tuple(questions_of(lesson)))
        self.logins = [each.owner for each in arrivals]

    def open_book(self) -> Gradebook:
        return Gradebook(Database(self.url), self.folder.id)

    def blind(self, login: str) -> str:
        return next(row.learner.blind for row in self.book.rows() if row.learner.login == login)

    def give(self, login: str, question: str, points: int, **more: Any) -> int:
        """A score by command; the id of it."""
        item = self.book.queue.find(login, question)
        assert item is not None
        fields = {"slots": {}, "vetoes": {}, "by_hand": True, **more.pop("mark", {})}
        given, _ = self.book.scores.give(item.id, more.pop("grader", "ann"), Mark(points, **fields), **more)
        return given.id

    def holders(self, question: str = "q1") -> set[str | None]:
        return {each[question].holder for each in self.book.scores.standing().values()}

    @asynccontextmanager
    async def open(
        self, grader: str = "ann", *, lang: str = "en", size: tuple[int, int] = (80, 24), question: str | None = None
    ) -> AsyncIterator[Window]:
        """A window, on the list or on the next item of `question`."""
        context = context_of(parse(["--lang", lang, "--theme", "dark", "--state", str(self.state)]), {})
        book = self.open_book()
        app = ReviewApp(self.folder, book, self.lesson, context, grader)
        try:
            async with app.run_test(size=size) as pilot:
                window = Window(app, pilot)
                await window.until(lambda: window.has(ClassList) and window.list.loaded and not app.busy)
                if question is not None:
                    await app.open_item(question, None)
                    await window.settle()
                yield window
        finally:
            book.queue.release_all(app.holder)  # as when its process is gone
            app.close()
            book.close()


class Window:
    """One window of a grader."""

    def __init__(self, app: ReviewApp, pilot: Pilot[None]) -> None:
        self.app, self.pilot = app, pilot

    @property
    def text(self) -> str:
        return text_of(self.app)

    def line(self, word: str) -> str:
        """The first row of the screen with this word."""
        found = [row for row in self.text.split("\n") if word in row]
        assert found, self.text
        return found[0]

    def has(self, kind: type[Screen[Any]]) -> bool:
        return any(isinstance(each, kind) for each in self.app.screen_stack)

    def screen(self, kind: type[AnyScreen]) -> AnyScreen:
        found = [each for each in self.app.screen_stack if isinstance(each, kind)]
        assert found, self.text
        return found[0]

    @property
    def list(self) -> ClassList:
        return self.screen(ClassList)

    @property
    def item(self) -> ItemScreen:
        assert self.screen(ItemScreen).now is not None, self.text
        return self.screen(ItemScreen)

    @property
    def number(self) -> int:
        """The item under review."""
        assert self.item.now is not None
        return self.item.now.item.id

    async def settle(self) -> str:
        """Until nothing is asked of the gradebook any more, and all is drawn."""
        await self._drawn()
        await self.until(lambda: not self.app.busy)
        return self.text

    async def until(self, what: Callable[[], Any]) -> None:
        for _ in range(2000):
            if what():
                await self._drawn()
                return
            await self._drawn()
            await asyncio.sleep(0.005)
        raise AssertionError(f"never came; the screen was:\n{self.text}")

    async def _drawn(self) -> None:
        """Until what was posted is handled, and drawn."""
        if self.app.is_running:
            await settled(self.pilot)

    async def press(self, *keys: str) -> str:
        for key in keys:
            name = _character_to_key(key) if len(key) == 1 else key
            self.app.post_message(events.Key(name, key if len(key) == 1 else CHARACTERS.get(key)))
            read = asyncio.Event()
            self.app.call_later(read.set)
            await read.wait()
            if self.app.busy:  # what the next key means may hang on it
                await self.settle()
        return await self.settle()

    async def clear_vetoes(self) -> str:
        """No to all: v, v, and n to those that the finder flagged."""
        text = await self.press("v", "v")
        while self.item.asked:
            text = await self.press("n")
        return text


@pytest.fixture(scope="module")
def lesson() -> Lesson:
    return catalog.load(catalog.DEFAULT_LESSON)


@pytest.fixture(scope="module")
def files(lesson: Lesson) -> list[bytes]:
    return [raw for _, raw in hand_ins(lesson, LEARNERS, 1)]


@pytest.fixture
def room(tmp_path: Path, lesson: Lesson, files: list[bytes], monkeypatch: pytest.MonkeyPatch) -> Iterator[Room]:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    made = Room(tmp_path, lesson, files)
    yield made
    made.book.close()
