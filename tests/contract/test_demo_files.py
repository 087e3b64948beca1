"""Every demo of every lesson: its rules can be read, its sentences exist, its recorded runs play and are labelled."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tutor import strings
from tutor.lab import transcripts, verdict_table, verdicts
from tutor.language import LANGS
from tutor.lesson import catalog
from tutor.model import Demo, Verdict

ROOT = Path(__file__).resolve().parents[2]
LESSONS = [catalog.load(name) for name in catalog.lesson_ids()]
DEMOS = [demo for lesson in LESSONS for demo in lesson.demos.values()]
CLAIMS = {claim.id: claim for lesson in LESSONS for claim in lesson.claims.values()}
#: The modules that run under the learner's own interpreter, which may be older than the tutor's.
CHILDREN = [ROOT / "tutor" / "lab" / f"{name}.py" for name in ("parent", "child", "gpus", "machine", "probe", "timing")]
OLDEST = (3, 10)


def texts(demo: Demo) -> Iterator[str]:
    for both in (demo.title, demo.shows, demo.question, *demo.why.values()):
        yield both.zh
        yield both.en
    for ask in demo.asks:
        for choice in ask.choices:
            yield choice.zh
            yield choice.en


def test_there_is_a_demo() -> None:
    assert DEMOS


@pytest.mark.parametrize("demo", DEMOS, ids=lambda demo: demo.name)
def test_a_demo_is_whole(demo: Demo) -> None:
    assert demo.script.is_file()
    assert demo.asks
    assert len({ask.id for ask in demo.asks}) == len(demo.asks)
    assert demo.usual_s[0] <= demo.usual_s[1]
    assert "torch" in demo.needs
    assert set(demo.needs) <= {"torch", "cuda", "compiler", "triton"}
    assert all(text.strip() for text in texts(demo))
    for claim in demo.claims:
        assert CLAIMS[claim].demo == demo.name
        verdicts.check(demo.verdicts[claim])


@pytest.mark.parametrize("demo", DEMOS, ids=lambda demo: demo.name)
def test_every_sentence_and_question_that_a_demo_names_is_there(demo: Demo) -> None:
    """By the recorded run, and the other way by the script's text: a sentence that nothing can name is stray."""
    used = [event for path in demo.recorded for event in transcripts.replay(demo, path)]
    observations = [event for event in used if event["event"] == "observation"]
    assert {event["why"] for event in observations} <= {None, *demo.why}
    asked, asks = {event["ask"] for event in observations} - {None}, {ask.id for ask in demo.asks}
    assert asked == asks
    script = demo.script.read_text(encoding="utf-8")
    assert {key for key in demo.why if f'"{key}"' not in script} == set()
    observed = {name for event in observations for name in event["values"]}
    assert set(demo.units) <= observed


@pytest.mark.parametrize("demo", DEMOS, ids=lambda demo: demo.name)
def test_recorded_runs_play_and_say_what_the_lesson_says(demo: Demo) -> None:
    assert demo.recorded
    for path in demo.recorded:
        about = transcripts.header(path)
        version = ".".join(about.torch.split(".")[:2])
        device = "cuda" if about.gpu else "cpu"
        assert path.name == f"{demo.script.stem}.{device}-torch{version}.jsonl"
        assert re.fullmatch(r"\d{4}-\d{2}-\d{2}", about.date)
        *_, result, ended = transcripts.replay(demo, path)
        assert result["source"] == "recorded"
        assert ended["outcome"] == "ok"
        for claim, verdict in result["claims"].items():
            assert CLAIMS[claim].agrees(Verdict(verdict)), (path.name, claim, verdict)
        for line in path.read_text(encoding="utf-8").splitlines():
            assert not re.search(r"/(home|root|tmp|usr|work|mnt)/", line), "a path of the machine that recorded it"


@pytest.mark.parametrize("demo", DEMOS, ids=lambda demo: demo.name)
def test_a_rule_names_only_what_a_run_observes(demo: Demo) -> None:
    """A missing observation would make the verdict `broke` for ever."""
    for path in demo.recorded:
        result = next(event for event in transcripts.replay(demo, path) if event["event"] == "result")
        for said in result["because"].values():
            assert said["key"] not in ("lab.because-missing", "lab.because-kind")


def test_every_claim_has_an_experiment() -> None:
    assert {claim for demo in DEMOS for claim in demo.claims} == set(CLAIMS)
    assert all(claim.demo in {demo.name for demo in DEMOS} for claim in CLAIMS.values())


def spoiled(value: Any, up: bool) -> Any:
    """A value of the same kind that no control expects."""
    if isinstance(value, str) and re.fullmatch(r"\d+/\d+.*", value):
        return "eager"
    if isinstance(value, bool):
        return not value
    if isinstance(value, (int, float)):
        return value * 1e6 + 1e6 if up else -1
    if isinstance(value, dict):
        return {name: spoiled(item, up) for name, item in value.items()}
    return "otherwise"


RULES = [(demo, claim, rule) for demo in DEMOS for claim in demo.claims for rule in demo.verdicts[claim]["control"]]


@pytest.mark.parametrize(("demo", "claim", "rule"), RULES, ids=lambda value: getattr(value, "name", value))
def test_a_control_that_comes_out_the_wrong_way_proves_nothing(demo: Demo, claim: str, rule: str) -> None:
    """By the recorded runs, with what the rule looks at spoiled, and then missing."""
    series, name, *_ = rule.removeprefix("some ").split()[0].split(".")
    for path in demo.recorded:
        result = next(event for event in transcripts.replay(demo, path) if event["event"] == "result")
        observed = result["observed"]
        assert verdicts.judge(demo.verdicts[claim], observed).verdict.value == result["claims"][claim]
        broken = []
        for up in (True, False):
            values = [spoiled(value, up) for value in observed[series][name]]
            changed = {**observed, series: {**observed[series], name: values}}
            broken.append(verdicts.judge(demo.verdicts[claim], changed).because.key == "lab.because-control")
        assert any(broken), (path.name, rule)
        gone = {**observed, series: {key: value for key, value in observed[series].items() if key != name}}
        judged = verdicts.judge(demo.verdicts[claim], gone)
        assert (judged.verdict, judged.because.key) == (Verdict.BROKE, "lab.because-missing")


def otherwise(observed: dict[str, Any], rule: str) -> Iterator[dict[str, Any]]:
    """The observations with what a rule looks at changed: far up, far down, a little, to what it is compared with."""
    place, _, operand = rule.removeprefix("some ").split(maxsplit=2)
    series, name, *_ = place.split(".")
    seen = observed.get(series, {}).get(name, [])
    changes = [[spoiled(value, True) for value in seen], [spoiled(value, False) for value in seen]]
    changes.append([value / 20 if type(value) in (int, float) else value for value in seen])
    other, _, column = operand.partition(".")
    changes.append(observed.get(other, {}).get(column, seen))
    for values in changes:
        yield {**observed, series: {**observed[series], name: values}}


@pytest.mark.parametrize(
    ("demo", "claim"),
    [(demo, claim) for demo in DEMOS for claim in demo.claims],
    ids=lambda value: getattr(value, "name", value),
)
def test_a_claim_can_come_out_otherwise(demo: Demo, claim: str) -> None:
    """By the recorded runs, with a value that its verdict rests on changed: a rule that cannot fail is none."""
    rules = demo.verdicts[claim]
    for path in demo.recorded:
        result = next(event for event in transcripts.replay(demo, path) if event["event"] == "result")
        rests_on = [rule for verdict, wanted in rules.items() if verdict != "control" for rule in wanted]
        changed = [each for rule in rests_on for each in otherwise(result["observed"], rule)]
        found = {verdicts.judge(rules, observed).verdict.value for observed in [result["observed"], *changed]}
        assert len(found - {"broke"}) > 1 or found - {"broke"} == {"differs"}, path.name


def test_the_table_of_verdicts_is_whole_and_agrees_with_the_lesson() -> None:
    for lesson in LESSONS:
        path = lesson.folder / "recorded" / "verdicts.md"
        columns = verdict_table.read(path.read_text(encoding="utf-8"))
        assert verdict_table.write(lesson, columns) == path.read_text(encoding="utf-8")
        assert {name.split("-")[0] for name in columns} >= {"cpu", "cuda"}
        for machine, found in columns.items():
            assert set(found) <= set(lesson.claims), machine
            assert len(found) > len(lesson.claims) // 2, machine
            if machine.startswith("cuda"):
                assert set(found) == set(lesson.claims)
                assert set(found.values()) <= {"holds", "conditional", "differs"}
        for demo in lesson.demos.values():
            for recorded in demo.recorded:
                result = next(event for event in transcripts.replay(demo, recorded) if event["event"] == "result")
                (column,) = (
                    c for name, c in columns.items() if name.startswith(recorded.name.split(".", 1)[1][:-6] + ",")
                )
                assert {claim: column[claim] for claim in demo.claims} == result["claims"]


@pytest.mark.parametrize("path", [*CHILDREN, *(demo.script for demo in DEMOS)], ids=lambda path: path.stem)
def test_what_runs_under_another_python_is_old_enough_for_it(path: Path) -> None:
    tree = ast.parse(path.read_text(encoding="utf-8"), feature_version=OLDEST)
    newer = {"StrEnum", "TaskGroup", "ExceptionGroup", "tomllib", "UTC", "Self", "assert_never", "batched"}
    names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    names |= {alias.name for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) for alias in node.names}
    assert not names & newer


def imports(tree: ast.AST, *, for_type_checker: bool) -> set[str]:
    """Top-level packages that are imported, with those that only the type checker sees or without."""
    if not for_type_checker:
        for node in ast.walk(tree):
            if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
                node.body = []
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            found.add(node.module.partition(".")[0])
    return found


@pytest.mark.parametrize("path", sorted((ROOT / "tutor" / "lab").glob("*.py")), ids=lambda path: path.stem)
def test_torch_is_imported_by_children_only_and_the_tutor_by_none_of_them(path: Path) -> None:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    if path in CHILDREN:
        assert "tutor" not in imports(tree, for_type_checker=False)
    else:
        assert "torch" not in imports(tree, for_type_checker=True)


def test_every_message_of_the_lab_is_there_in_both_languages() -> None:
    named = set()
    for path in sorted((ROOT / "tutor" / "lab").glob("*.py")):
        named |= set(re.findall(r'"lab\.([a-z-]+)"', path.read_text(encoding="utf-8")))
    named |= {"finding", "starting", "waiting", "importing", "running"}
    for lang in LANGS:
        assert named <= set(strings.section(lang, "lab"))
        assert set(strings.section(lang, "lab")) <= named, "a sentence that nobody says"
