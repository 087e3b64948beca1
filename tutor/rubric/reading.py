"""One text read for the concepts of a rubric: where they stand together, of whom, negated or not (pure)."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from functools import cached_property

from tutor.rubric.model import SUBJECT, Evidence, Quote
from tutor.rubric.pattern import Index, Span
from tutor.rubric.text import READ_MAX, Text

#: How often one pattern is looked for in one text.
HITS = 24
#: How many quotes a slot shows.
QUOTES = 2
#: The longest quote, in characters of the text: longer clauses are cut to what was recognised.
QUOTE_MAX = 70
#: A shorter one takes the clause before it along, in characters.
SHORT = 6
#: All concepts of one piece of evidence stand within this many characters.
REACH = 70
#: Two subjects closer than this are named together, and what follows is said of neither.
TOGETHER = 10
_AND = ("", "和", "与", "跟", "及", "以及", ",", "、", "/", "and", "and a", "and the", "vs", "vs.", "or", "或")
#: As much of a reference, word for word, is the reference and not the learner.
COPIED = 18


class Reading:
    """One text with the concepts that were found in it so far."""

    def __init__(self, index: Index, text: Text, reference: str) -> None:
        self.text = text
        self._reference = reference
        found = index.find(text.folded, HITS)
        self._hits = {name: [span for span in spans if self._in_one_clause(span)] for name, spans in found.items()}

    def notes(self) -> tuple[str, ...]:
        notes = []
        if len(self.text.raw) > READ_MAX:
            notes.append("too-long")
        if self.hits("to_grader"):
            notes.append("to-grader")
        said = [mute for mute, (a, b) in zip(self.text.mute, self.text.sentences, strict=True) if self._words(a, b)]
        if said and all(said):
            notes.append("no-argument")
        if self._copied:
            notes.append("copied")
        if self.text.raw.strip() and not any(c.isalpha() for c in self.text.folded):
            notes.append("no-words")
        return tuple(notes)

    def _words(self, start: int, end: int) -> bool:
        return not self.text.folded[start:end].isspace()

    def _mute(self, sentence: int) -> bool:
        """Whether a sentence is no argument of the learner's: a question, a row of words, talk that would fit any
        question, or a piece of the reference."""
        start, end = self.text.sentences[sentence]
        talk = self.hits("empty_talk")
        if self.text.mute[sentence] or any(start <= hit.start < end for hit in talk):
            return True
        return any(start <= a < end for a, _ in self._copied)

    def hits(self, concept: str) -> list[Span]:
        """Where a concept stands, first places first."""
        return self._hits.get(concept, [])

    def _in_one_clause(self, span: Span) -> bool:
        return self.text.clause_at(span.start) == self.text.clause_at(span.end - 1)

    def quotes(self, evidence: tuple[Evidence, ...], about: str | None) -> tuple[Quote, ...]:
        """The quotes for any of `evidence`; none when the text also says the opposite."""
        found: list[list[Span]] = []
        for one in evidence:
            for spans in self._together(one):
                if about is not None and self.subject(spans) != about:
                    continue
                if self._negated(spans, one.bare):
                    return ()
                found.append(spans)
        found.sort()
        quotes = sorted(set(map(self._quote, found[: 3 * QUOTES])))
        # Of two where one holds the other, the shorter one says it.
        short = [one for one in quotes if not any(_holds(one, other) for other in quotes if other != one)]
        return tuple(short[:QUOTES])

    def _together(self, one: Evidence) -> Iterator[list[Span]]:
        """For each place of the first concept, the nearest places of the others."""
        first, *others = (self.hits(name) for name in one.concepts)
        where = self.text.sentence_at if one.sentence else self.text.clause_at
        for span in first[:HITS]:
            if self._mute(self.text.sentence_at(span.start)):
                continue
            spans = [span]
            for hits in others:
                near = [h for h in hits if where(h.start) == where(span.start) and not _overlap(h, span)]
                best = min(near, key=lambda h: abs(h.start - span.start), default=None)
                if best is None or abs(best.start - span.start) > REACH:
                    break
                spans.append(best)
            else:
                yield spans

    def _negated(self, spans: list[Span], bare: bool) -> bool:
        """Whether a word of negation stands in a clause of `spans` before their end, and in none of them."""
        end = max(span.end for span in spans)
        first = min(self.text.clauses[self.text.clause_at(span.start)][0] for span in spans)
        clauses = {self.text.clause_at(span.start) for span in spans}
        for start, stop, reach in self.text.negations:
            if start >= end:
                break
            if start < first or self.text.clause_at(start) not in clauses:
                continue
            if not any(start < span.end and span.start < reach for span in spans):
                continue
            inside = any(span.start <= start and stop <= span.end for span in spans)
            if not inside and not bare:
                return True
            if bare and not inside and stop <= min(span.start for span in spans):
                return True
        return False

    # --- of whom it is said ------------------------------------------------------------------------------------------

    @cached_property
    def _mentions(self) -> list[tuple[int, int, str]]:
        """Every mention of a subject as (start, end, name), in order; `both` where two are named in one breath."""
        found = sorted(
            (*span, name.removeprefix(SUBJECT))
            for name, spans in self._hits.items()
            if name.startswith(SUBJECT)
            for span in spans
        )
        names = list(dict.fromkeys(name for _, _, name in found if name not in ("former", "latter")))
        out: list[tuple[int, int, str]] = []
        for start, end, name in found:
            if name in ("former", "latter"):
                if len(names) < 2:
                    continue
                name = names[0] if name == "former" else names[1]
            if out and start - out[-1][1] < TOGETHER and out[-1][2] != name and self._one_breath(out[-1][1], start):
                out[-1] = (out[-1][0], end, "both")
            elif not out or start >= out[-1][1]:
                out.append((start, end, name))
        return out

    def _one_breath(self, start: int, end: int) -> bool:
        between = self.text.folded[start:end].strip(" `'\"")
        return between in _AND

    def subject(self, spans: list[Span]) -> str | None:
        """Of what it is said: the last subject named before in the sentence, else the next one in it, else the last one
        named in the sentence before."""
        start, end = min(s.start for s in spans), max(s.end for s in spans)
        number = self.text.sentence_at(start)
        inside = self._named.get(number, [])
        before = [name for a, name in inside if a <= start] or [name for a, name in inside if a < end]
        if before:
            return before[-1]
        if inside:
            return inside[0][1]
        earlier = bisect_left(self._mention_starts, self.text.sentences[number][0])
        return self._mentions[earlier - 1][2] if earlier else None

    @cached_property
    def _named(self) -> dict[int, list[tuple[int, str]]]:
        """By sentence, the subjects that it names and where."""
        out: dict[int, list[tuple[int, str]]] = {}
        for start, _, name in self._mentions:
            out.setdefault(self.text.sentence_at(start), []).append((start, name))
        return out

    @cached_property
    def _mention_starts(self) -> list[int]:
        return [start for start, _, _ in self._mentions]

    # --- quotes -----------------------------------------------------------------------------------------------------

    def _quote(self, spans: list[Span]) -> Quote:
        """The clauses that hold the evidence where they are short, else the evidence itself."""
        start, end = min(s.start for s in spans), max(s.end for s in spans)
        clause, sentence = self.text.clause_at(start), self.text.sentence_at(start)
        first = self.text.clauses[clause][0]
        if end - first < SHORT and clause and self.text.sentence_at(self.text.clauses[clause - 1][0]) == sentence:
            first = self.text.clauses[clause - 1][0]
        last = self.text.clauses[self.text.clause_at(end - 1)][1]
        if last - first <= QUOTE_MAX:
            start, end = first, last
        start, end = self.text.original(start, end)
        raw = self.text.raw
        while start < end and not (raw[start].isalnum() or raw[start] in "`.[「(（"):
            start += 1
        while end > start and not (raw[end - 1].isalnum() or raw[end - 1] in "`]」)）%"):
            end -= 1
        return Quote(start, end, raw[start:end])

    @cached_property
    def _copied(self) -> list[tuple[int, int]]:
        """The clauses and sentences that stand word for word in the reference."""
        spans = [*self.text.clauses, *self.text.sentences] if self._reference else []
        return [span for span in spans if self._is_copied(*span)]

    def _is_copied(self, start: int, end: int) -> bool:
        clause = self.text.folded[start:end].strip(" ,，:：。.;；")
        # A Chinese character carries about as much as two others.
        size = len(clause) + (0 if clause.isascii() else len(clause) // 2)
        return size >= COPIED and clause in self._reference


def _holds(one: Quote, other: Quote) -> bool:
    return one.start <= other.start and other.end <= one.end


def _overlap(one: Span, other: Span) -> bool:
    return one.start < other.end and other.start < one.end
