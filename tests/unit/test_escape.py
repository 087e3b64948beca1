"""Esc and the key after it, in one packet or in two."""

from __future__ import annotations

import pytest
from textual import events

from tutor.ui.escape import ESC, Splitter, _Parser


def pieces(*packets: str) -> list[str]:
    splitter = Splitter()
    out = [piece for packet in packets for piece in splitter.feed(packet)]
    return out + ([splitter.release()] if splitter.holding else [])


@pytest.mark.parametrize("key", list("0123456789:?/;rRtxC \r\t\x11？编"))
def test_esc_and_a_key_in_one_packet_are_two(key: str) -> None:
    assert pieces(ESC + key) == [ESC, key]


def test_esc_and_a_key_in_two_packets_are_two() -> None:
    assert pieces("ab" + ESC, "4") == ["ab", ESC, "4"]


@pytest.mark.parametrize(
    "sequence",
    ["\x1b[A", "\x1b[15~", "\x1bOP", "\x1b[<0;3;4M", "\x1b[?2026;2$y", "\x1bb", "\x1b\x7f", "\x1bP1$r0m\x1b\\"],
)
def test_sequences_reach_the_parser_whole(sequence: str) -> None:
    assert "".join(pieces(sequence)) == sequence
    assert ESC not in pieces(sequence)


def test_a_sequence_cut_after_esc_is_joined_again() -> None:
    assert pieces(ESC, "[A") == ["\x1b[A"]


def test_nothing_inside_a_paste_is_split() -> None:
    paste = "\x1b[200~a\x1b4b\x1b[201~"
    assert "".join(pieces(paste)) == "\x1b[200~a4b\x1b[201~", "an ESC in a paste is no key, and no text"
    assert ESC not in pieces(paste)


def test_the_end_of_a_paste_may_come_in_pieces() -> None:
    for cut in range(1, 6):
        end = "\x1b[201~"
        assert "".join(pieces("\x1b[200~ab" + end[:cut], end[cut:] + "c")) == "\x1b[200~ab\x1b[201~c"


def test_a_hostile_paste_is_one_paste_and_no_key() -> None:
    parser = _Parser()
    told = list(parser.feed("\x1b[200~a\x07\x1b]0;x\x07\x1b[A\x1bOPb\x1b[201~"))
    assert [type(event) for event in told] == [events.Paste]
    assert told[0].text == "a\x07]0;x\x07[AOPb"  # type: ignore[attr-defined]


def test_a_paste_in_two_packets_stays_a_paste() -> None:
    assert ESC not in pieces("\x1b[200~a", "\x1b4", "\x1b[201~")
    assert pieces("\x1b[200~a\x1b[201~" + ESC + "4")[-2:] == [ESC, "4"]


def keys(*packets: str) -> list[str]:
    parser = _Parser()
    return [event.key for packet in packets for event in parser.feed(packet) if isinstance(event, events.Key)]


def test_the_parser_says_escape_then_the_digit() -> None:
    assert keys("\x1b4") == ["escape", "4"]
    assert keys("\x1b:") == ["escape", "colon"]


def test_the_parser_still_knows_arrows_and_f_keys() -> None:
    assert keys("\x1b[A\x1b[15~") == ["up", "f5"]


def test_a_lone_esc_is_a_key_after_the_parsers_own_delay(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 100.0
    monkeypatch.setattr("tutor.ui.escape.monotonic", lambda: now)
    parser = _Parser()
    assert list(parser.feed(ESC)) == []
    assert list(parser.tick()) == []
    now += 10
    assert [event.key for event in parser.tick() if isinstance(event, events.Key)] == ["escape"]
