"""What the evidence finder shows of the labelled answers, and how long it takes: `python -m tests.bench.rubric_report`.

Writes Markdown to standard output; the figures kept in `rubric_report.md` came from it.
"""

from __future__ import annotations

import platform
import time

from tests.unit.labelled import STYLES, Count, answers, counts, found, rubric, total
from tutor.rubric.examine import examine
from tutor.rubric.text import READ_MAX


def table() -> list[str]:
    """Per style and slot: quotes that are right and wrong, slots not recognised, precision and recall."""
    lines = ["| style | slot | right | wrong | not recognised | precision | recall |", "|---|---|---|---|---|---|---|"]
    for style in STYLES:
        rows: dict[str, Count] = {**dict(sorted(counts(style).items())), "**all**": total(style)}
        for name, count in rows.items():
            shown = f"{count.precision:.3f}" if count.right + count.wrong else "-"
            seen = f"{count.recall:.3f}" if count.right + count.unseen else "-"
            lines.append(f"| {style} | {name} | {count.right} | {count.wrong} | {count.unseen} | {shown} | {seen} |")
    return lines


def vetoes() -> str:
    """How many of the labelled vetoes were asked about, and how many questions were asked without one."""
    asked = sum(len(set(found(one).vetoes) & set(one.vetoes)) for one in answers())
    of = sum(len(one.vetoes) for one in answers())
    others = sum(len(set(found(one).vetoes) - set(one.vetoes)) for one in answers())
    return f"Vetoes asked about: {asked} of {of}; asked without one in the label: {others}."


def seconds(repeats: int) -> list[float]:
    """Processor time of one reading of a dense text of READ_MAX characters, in seconds, sorted."""
    text = " ".join(one.answer for one in answers() if one.kind == "excellent")[:READ_MAX]
    taken = []
    for _ in range(repeats):
        for question in rubric().questions:
            start = time.process_time()
            examine(rubric(), question, text)
            taken.append(time.process_time() - start)
    return sorted(taken)


def main(repeats: int = 100) -> None:
    print("\n".join([*table(), "", vetoes(), ""]))
    taken = [1e3 * value for value in seconds(repeats)]

    def at(share: float) -> float:
        return taken[min(len(taken) - 1, int(share * len(taken)))]

    print(
        f"One dense text of {READ_MAX} characters, processor time, {platform.machine()}, Python "
        f"{platform.python_version()}: n {len(taken)}, p50 {at(0.5):.2f} ms, p95 {at(0.95):.2f} ms, "
        f"p99 {at(0.99):.2f} ms, max {taken[-1]:.2f} ms."
    )


if __name__ == "__main__":
    main()
