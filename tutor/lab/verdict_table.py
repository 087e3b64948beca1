"""`recorded/verdicts.md`: what each claim came to on each machine and version that was tried (pure).

One row a claim, one column a machine. The table is read back when a machine is added, so it is the only copy.
"""

from __future__ import annotations

from collections.abc import Mapping

from tutor.model import Lesson

_HEAD = """# Verdicts

What the experiments said of each claim, by device, torch version and machine. `python -m tutor.lab.transcripts --all`
writes a column. A conditional claim also stands with the verdicts that its own records give.

"""

Verdicts = Mapping[str, str]


def read(text: str) -> dict[str, Verdicts]:
    """The columns of a written table: machine -> claim -> verdict. Raises ValueError for what is none."""
    rows = [line.strip().strip("|").split("|") for line in text.splitlines() if line.startswith("|")]
    if len(rows) < 2:
        raise ValueError("there is no table")
    _, _, *machines = (cell.strip() for cell in rows[0])
    found: dict[str, dict[str, str]] = {machine: {} for machine in machines}
    for claim, _, *cells in rows[2:]:
        for machine, cell in zip(machines, cells, strict=True):
            if cell.strip():
                found[machine][claim.strip().strip("`")] = cell.strip()
    return dict(found)


def write(lesson: Lesson, columns: Mapping[str, Verdicts]) -> str:
    """The table with every claim of the lesson; a claim that a machine did not test has an empty cell."""
    lines = [["claim", "the lesson says", *columns], ["---"] * (2 + len(columns))]
    for claim in lesson.claims.values():
        lines.append([f"`{claim.id}`", claim.says.value, *(column.get(claim.id, "") for column in columns.values())])
    return _HEAD + "".join(f"| {' | '.join(cells)} |\n" for cells in lines)
