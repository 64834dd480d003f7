"""The same bits as on the chip: traces that the project keeps, repeated by this module."""

import struct
from pathlib import Path

import pytest

import trimtab
from trimtab import Tuner, nominal, ranked

GOLDEN = Path(__file__).parents[3] / "tests" / "golden"


def bits(number):
    return struct.pack(">f", number).hex()


def number(text):
    return struct.unpack(">f", bytes.fromhex(text))[0]


def test_the_parity_trace_of_all_machines():
    # firmware/src/demo/parity.rs: the run `whole`, whose table is the whole space.
    lines = [line.split() for line in (GOLDEN / "parity.txt").read_text().splitlines()]
    steps = [line for line in lines if line[0] == "whole" and line[1].isdigit()]
    assert len(steps) == 24
    knobs = {"a": nominal(range(3)), "b": ranked(range(4)), "c": nominal(range(2))}
    tuner = Tuner(knobs, seed=0x7472696D, budget=24)
    for _, place, levels, mean, std_dev, _, value in steps:
        ask = tuner.ask()
        assert [ask["a"], ask["b"], ask["c"]] == list(bytes.fromhex(levels)), place
        own = ("00000000", "7f800000") if ask.mean is None else (bits(ask.mean), bits(ask.std_dev))
        assert own == (mean, std_dev), place
        tuner.tell(ask, number(value))
    [best] = [line for line in lines if line[:2] == ["whole", "best"]]
    assert [*tuner.best.config.values()] == list(bytes.fromhex(best[2]))
    assert bits(tuner.best.value) == best[3]


def test_the_chips_run_of_the_antenna():
    first, second = trimtab.replay(GOLDEN / "antenna.log")
    assert (first.proposals, first.same, second.proposals, second.same) == (120, 120, 40, 40)
    assert first.difference is None and second.difference is None


def test_a_changed_bit_of_the_chip_is_found(tmp_path):
    log = bytearray((GOLDEN / "antenna.log").read_bytes())
    log[3000] ^= 1
    (tmp_path / "torn.log").write_bytes(log)
    first, _ = trimtab.replay(tmp_path / "torn.log")
    assert first.same < 120 and "missing" in " ".join(first.lines)


def test_what_is_no_log_says_so(tmp_path):
    (tmp_path / "notes.txt").write_text("notes")
    with pytest.raises(trimtab.TrimtabError, match="contains no frame"):
        trimtab.replay(tmp_path / "notes.txt")
    with pytest.raises(trimtab.TrimtabError, match="cannot read"):
        trimtab.replay(tmp_path / "none.log")
