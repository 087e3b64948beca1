"""One of the lesson's demos run again for a grader: read in a thread, folded when the screen has time for it."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping
from typing import Any

from tutor.classroom.item_demo import Wanted
from tutor.lab import protocol, transcripts
from tutor.lab.host import LabHost
from tutor.lab.protocol import Outcome
from tutor.model import Message, Source
from tutor.ui.panes.base import tool_broke
from tutor.ui.views.lab import RunView


class DemoRun:
    """`view` is what is known of it so far."""

    def __init__(self, host: LabHost, asked: Wanted) -> None:
        """Start it. Raises LabBusy while another one is going."""
        self.asked = asked
        self.view = RunView(predicted=dict(asked.predicted))
        self._run = host.start(asked.demo, device=asked.device, predicted=asked.predicted)
        self.over = False
        """Whether nothing more comes."""
        self._came: deque[Mapping[str, Any]] = deque()

    def read(self) -> None:
        """In a thread, to the end. Where it cannot be run the newest recording takes its place. Raises
        TranscriptError for one of ours that is damaged; whatever it raises, the run has ended as the tool's fault."""
        try:
            for event in self._run:
                if event["event"] == "ended" and event["outcome"] == Outcome.UNAVAILABLE:
                    self._came.extend(self._recorded())
                self._came.append(event)
        except BaseException as error:
            said = protocol.as_json(Message("ui.run_broke", tool_broke(error).args))
            self._came.append(protocol.event("ended", 0.0, outcome=Outcome.BROKE.value, message=said))
            raise
        finally:
            self.over = True

    def _recorded(self) -> Iterator[Mapping[str, Any]]:
        demo = self.asked.demo
        if demo.recorded:
            for event in transcripts.replay(demo, transcripts.newest(demo), self.asked.predicted):
                if event["event"] != "ended":
                    yield event

    def fold(self) -> bool:
        """Take in what came; whether anything did."""
        any_came = bool(self._came)
        while self._came:
            event = self._came.popleft()
            self.view.take(event)
            if event["event"] == "result" and event["source"] == Source.RECORDED:
                self.view.source = Source.RECORDED
                self.view.where = f"{event['where']}, {str(event['when'])[:7]}"
        return any_came

    def cancel(self) -> None:
        """End it; what came before stays."""
        self._run.cancel()
