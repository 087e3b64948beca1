"""The places where demos can run, as lines to choose from: each GPU with its memory, its load and who is on it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from tutor.lab import gpus
from tutor.lab.gpus import Gpu, Process, Trouble
from tutor.language import Lang
from tutor.lines import BLANK, Line, Part, wrap
from tutor.literals import safe_text
from tutor.strings import text
from tutor.ui.box import short_name

#: Processes that are named on one GPU; the rest is counted.
NAMED = 6
#: What stands before the item's device in its name.
ITEM = "device:"


def choice_lines(
    listed: Sequence[Gpu] | Trouble | None,
    chosen: str,
    lang: Lang,
    width: int,
    *,
    env: Mapping[str, str],
    launcher: bool = False,
    owner: Callable[[int], str | None] = gpus.owner,
) -> list[Line]:
    """`auto`, `cpu`, and every GPU and MIG slice that the environment lets through, each as item `device:...`, the
    `chosen` one marked `>`. `listed` is None while nvidia-smi is asked; with a `launcher` no GPU of here is told."""

    def say(key: str, **args: str | int) -> str:
        return text(lang, f"gpus.{key}", **args)

    def row(device: str, parts: Sequence[Part], lead: str = "") -> list[Line]:
        mark = ("> " if device == chosen else "  ") + lead
        return wrap(parts, width, first=mark, rest=" " * (len(mark) + 2), item=ITEM + device)

    out = [*wrap([(say("intro"), "muted")], width), BLANK]
    if launcher:
        return [*out, *row("auto", [(say("auto"), "plain")]), *row("cpu", [(say("cpu"), "plain")]), BLANK,
                *wrap([(say("launcher"), "caution")], width)]  # fmt: skip
    if listed is None:
        return [*out, *wrap([(say("asking"), "muted")], width)]
    if isinstance(listed, Trouble):
        words = say(listed.kind, seconds=int(gpus.SMI_S), text=safe_text(listed.text))
        problem = wrap([(words, "plain" if listed.kind == "none" else "caution")], width)
        gone = _gone(chosen, lang, width) if chosen.startswith("cuda:") else []
        return [*out, *row("auto", [(say("auto"), "plain")]), *row("cpu", [(say("cpu"), "plain")]), BLANK, *problem,
                *gone]  # fmt: skip
    there = gpus.allowed(listed, env.get("CUDA_VISIBLE_DEVICES"))
    best = gpus.least_busy(there) if there else None
    auto = say("auto-now", name=_name(best)) if best is not None else say("auto")
    out += [*row("auto", [(auto, "plain")]), *row("cpu", [(say("cpu"), "plain")])]
    known = {"auto", "cpu", "cuda"}
    for gpu in there:
        device = f"cuda:{gpu.uuid}"
        known |= {device, f"cuda:{gpu.index}", *(f"cuda:{uuid}" for _, uuid in gpu.slices)}
        parts: list[Part] = [(_card(gpu, lang), "plain")]
        if gpu is best:
            parts.append(("  " + say("least"), "good"))
        parts.append(("  " + _who(gpu.processes, lang, owner), "caution" if gpu.processes else "muted"))
        if f"cuda:{gpu.index}" == chosen:  # As a settings file or an earlier choice may name it.
            chosen = device
        out += row(device, parts)
        for profile, uuid in gpu.slices:
            named: list[Part] = [(say("slice", profile=safe_text(profile.removeprefix("MIG "))), "plain")]
            out += row(f"cuda:{uuid}", [*named, (f"  {safe_text(uuid)}", "muted")], lead="  ")
    if hidden := len(listed) - len({gpu.index for gpu in there}):
        out += wrap([(say("hidden", count=hidden), "muted")], width, first="  ", rest="  ")
    return out if chosen in known else out + _gone(chosen, lang, width)


def _gone(device: str, lang: Lang, width: int) -> list[Line]:
    return [BLANK, *wrap([(text(lang, "gpus.gone", device=safe_text(device)), "caution")], width)]


def _name(gpu: Gpu) -> str:
    return f"cuda:{gpu.index} {short_name(gpu.name)}"


def _card(gpu: Gpu, lang: Lang) -> str:
    free = gpu.total - gpu.used if gpu.total is not None and gpu.used is not None else None
    numbers = {"free": free, "total": gpu.total, "busy": gpu.busy}
    shown = {name: "?" if number is None else str(number) for name, number in numbers.items()}
    shown["free"], shown["busy"] = shown["free"].rjust(len(shown["total"])), shown["busy"].rjust(3)
    return text(lang, "gpus.card", name=_name(gpu), **shown)


def device_words(device: str, listed: Sequence[Gpu]) -> str:
    """A device as people call it: `cuda:1 H200` for `cuda:GPU-...`; as it is named where it is none of the listed."""
    named = {f"cuda:{gpu.uuid}": _name(gpu) for gpu in listed}
    slices = {f"cuda:{uuid}": f"{_name(gpu)} {profile}" for gpu in listed for profile, uuid in gpu.slices}
    return safe_text({**named, **slices}.get(device, device))


def _who(processes: Sequence[Process], lang: Lang, owner: Callable[[int], str | None]) -> str:
    """Who is on a GPU: user, program, process id and memory of each."""
    if not processes:
        return text(lang, "gpus.nobody")
    named = []
    for each in processes[:NAMED]:
        user = owner(each.pid) or "?"
        words = text(lang, "gpus.who", user=safe_text(user), name=safe_text(each.name), pid=each.pid)
        named.append(words + (f" {text(lang, 'gpus.memory', used=each.used)}" if each.used is not None else ""))
    if len(processes) > NAMED:
        named.append(text(lang, "gpus.more", count=len(processes) - NAMED))
    return ", ".join(named)
