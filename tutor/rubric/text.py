"""A learner's text as the evidence finder reads it: folded, cut into sentences and clauses, with a way back (pure)."""

from __future__ import annotations

import re
import unicodedata
from functools import cached_property, lru_cache

from tutor.rubric.pattern import MIXED, spaced

#: No more of an answer is read, in characters.
READ_MAX = 4000
#: A sentence with at least this many short items and nothing else is a list of words, not an argument.
LIST_ITEMS = 5
#: A word list without punctuation has at least this many words and none that holds a sentence together.
LIST_WORDS = 6

_TRADITIONAL = str.maketrans(
    "圖斷編譯執時調參數據類張層環變報錯誤異觸發條滿庫緩衛檢過調運輸這個與後為從會讓對應無線務請測試開關寫見護導階擷圍結關係統動態"
    "單獨處連續換轉約佈記憶體間現還須樣幾塊遇於當證語構門徑優減雙麼離熱",
    "图断编译执时调参数据类张层环变报错误异触发条满库缓卫检过调运输这个与后为从会让对应无线务请测试开关写见护导阶撷围结关系统动态"
    "单独处连续换转约布记忆体间现还须样几块遇于当证语构门径优减双么离热",
)

#: Sentences end here; a full stop only where a space, a Chinese character or the end follows (not in `x.item()`, 2.5).
_SENTENCE = re.compile(r"[。！!？?；;\n]+|\.(?=\s|$|[一-鿿])")
# Each of these begins with what its first character may be: most places of a text fail there.
_CLAUSE = re.compile(
    r"(?=[-,，:：()（）—→. bwsa但不然而因所于])(?:[,，:：()（）—]|->|→|\.{2,}| - |\b(?:but|whereas|because|so that)\b|"
    r"\band (?=(?:a|an|the|it|another|that|this|you|then|so)\b)|但|不过|然而|而是|因为|所以|因此|于是)"
)
_ITEM = re.compile(r"[、,，/|\n\t]+")
_TOKEN = re.compile(r"[a-z0-9_.=<>%()'-]+|[一-鿿]+")
_CHINESE = re.compile(r"[一-鿿]")
_HOLDS = re.compile(
    r"[的是会就了在把被让有由不没]|"
    r"\b(?:is|are|was|were|the|a|an|it|its|to|of|that|this|when|with|by|in|on|for|so|you|i|be|has|have|can|does|do)\b"
)

#: What looks like a negation and is none, or is part of a word.
_NO_NEGATION = re.compile(
    r"(?=[不没并非是会能有要无别区分类特级差否nw])(?:"
    r"(?:不会|不|没有|没|并未)(?:放宽|取消|去掉|放开|关掉|豁免)|不(?:连续|同|一样|一致|太|但|仅|只|论|管|断|得不|妨|少|错|是说)|"
    r"非(?:连续|尺寸|常)|是不是|会不会|能不能|有没有|要不要|无论|无非|别的|[区分类特级差]别|没准|否则|"
    r"n't relax|not (?:relax|lift|remove|drop|free|loosen|only|just)\w*|"
    r"never (?:relax|lift|remove|drop|free|loosen)\w*|whether or not|no (?:matter|reason not|doubt))"
)
_NEGATION = re.compile(
    r"(?=[不没无未非别勿严禁避nwcairhu])(?:[不没无未非别勿]|严禁|禁止|避免|n't\b|"
    r"(?:not|no|never|without|cannot|neither|nor|none|nothing|avoid|instead of|rather than|hardly|unlike)\b)"
)


class _Folds(dict[str, str]):
    """One character as it is compared: NFKC, lower case, simplified; nothing for marks that are not seen."""

    def __missing__(self, char: str) -> str:
        piece = self._fold(char)
        if len(self) < 8192:
            self[char] = piece
        return piece

    @staticmethod
    def _fold(char: str) -> str:
        category = unicodedata.category(char)
        if category in ("Cf", "Mn", "Cs", "Co"):
            return ""
        if category == "Cc":
            return "\n" if char == "\n" else " "
        if char in "“”「」『』‘’":
            return "'" if char in "‘’" else '"'
        plain = unicodedata.normalize("NFKC", char)
        # A full-width mark stays: it separates clauses, and the ASCII one may stand in code.
        if len(plain) > 3 or char in "。，；：？！（）":
            return char
        return plain.lower().translate(_TRADITIONAL)


_FOLDS = _Folds()


@lru_cache(maxsize=32)
def folded(text: str) -> str:
    """A text that is compared with again and again, as `Text` folds it."""
    return spaced("".join(map(_FOLDS.__getitem__, text)))


#: Behind one of these, a Chinese negation no longer reaches; nor further than REACHES characters.
_ENDS_NEGATION = re.compile(r"(?<!需)要|就|才|只好|只能|所以|于是|的|得")
REACHES = 20


class Text:
    """`raw` is the learner's text, `folded` what is searched; a span of `folded` leads back to one of `raw`."""

    def __init__(self, raw: str) -> None:
        self.raw = raw
        pieces = list(map(_FOLDS.__getitem__, raw[:READ_MAX]))
        whole = "".join(pieces)
        back = list(range(len(pieces)))
        if len(whole) != len(pieces) or "" in pieces:
            back = [place for place, piece in enumerate(pieces) for _ in piece]
        # Between Chinese and other characters some write a space, and some do not.
        for found in reversed(list(MIXED.finditer(whole))):
            del back[found.start()]
        self.folded = MIXED.sub("", whole)
        self._back = back

    def original(self, start: int, end: int) -> tuple[int, int]:
        """The span of `raw` behind a span of `folded` that is not empty."""
        return self._back[start], self._back[end - 1] + 1

    @cached_property
    def sentences(self) -> list[tuple[int, int]]:
        """Every sentence as a span, with its end mark."""
        return _cut(self.folded, _SENTENCE, 0, len(self.folded))

    @cached_property
    def clauses(self) -> list[tuple[int, int]]:
        """Every clause as a span, in order."""
        return [clause for start, end in self.sentences for clause in _cut(self.folded, _CLAUSE, start, end)]

    def sentence_at(self, place: int) -> int:
        """The number of the sentence that holds `place`."""
        return self._sentence_of[place]

    def clause_at(self, place: int) -> int:
        """The number of the clause that holds `place`."""
        return self._clause_of[place]

    @cached_property
    def _sentence_of(self) -> list[int]:
        return _numbers(self.sentences)

    @cached_property
    def _clause_of(self) -> list[int]:
        return _numbers(self.clauses)

    @cached_property
    def mute(self) -> list[bool]:
        """By sentence, whether it says nothing of its own: a question, or a list of words."""
        return [self._asks(*span) or is_list(self.folded[slice(*span)]) for span in self.sentences]

    def _asks(self, start: int, end: int) -> bool:
        return self.folded[start:end].rstrip().endswith(("?", "？"))

    @cached_property
    def negations(self) -> list[tuple[int, int, int]]:
        """Every word that negates, as a span, and the place up to which it reaches."""
        plain = _NO_NEGATION.sub(lambda found: " " * len(found.group()), self.folded)
        words = (found.span() for found in _NEGATION.finditer(plain))
        return [(start, end, self._reach(start, end)) for start, end in words if self._begins_word(start)]

    def _begins_word(self, place: int) -> bool:
        """Whether an English word begins here; any Chinese character does, and so does `n't`."""
        here, before = self.folded[place], self.folded[place - 1 : place]
        return not here.isascii() or self.folded.startswith("n't", place) or not (before.isascii() and before.isalnum())

    def _reach(self, start: int, end: int) -> int:
        if self.folded[start].isascii():
            return len(self.folded)
        stop = _ENDS_NEGATION.search(self.folded, end + 1, end + REACHES)
        return stop.start() if stop else end + REACHES


def _numbers(spans: list[tuple[int, int]]) -> list[int]:
    """By place, the number of the span that holds it; the spans follow each other without gaps."""
    out: list[int] = []
    for number, (start, end) in enumerate(spans):
        out += [number] * (end - start)
    return out


def _cut(folded: str, where: re.Pattern[str], start: int, end: int) -> list[tuple[int, int]]:
    spans = []
    for found in where.finditer(folded, start, end):
        if found.end() > start:
            spans.append((start, found.end()))
            start = found.end()
    if start < end or not spans:
        spans.append((start, end))
    return spans


def is_list(sentence: str) -> bool:
    """Whether folded text is a row of words that nothing holds together."""
    words = _TOKEN.findall(sentence)
    if len(words) >= LIST_WORDS and not _HOLDS.search(sentence):
        return True
    items = [item.strip() for item in _ITEM.split(sentence) if item.strip()]
    if len(items) <= LIST_ITEMS:
        return False
    short = [item for item in items if len(item.split()) <= 3 and len(_CHINESE.findall(item)) <= 6]
    return len(short) >= 0.85 * len(items)
