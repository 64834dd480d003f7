"""Ask, tell, fail, resume: a tuner as a program uses it."""

import doctest
import subprocess

import numpy as np
import pytest

import trimtab
from trimtab import Tuner, TrimtabError, graded, nominal, ranked

KNOBS = {"mode": nominal("slow", "fast"), "gain": graded(range(32)), "size": ranked("s", "m", "l")}


def cost(config):
    return abs(config["gain"] - 21) + (5 if config["mode"] == "slow" else 0) + "sml".index(config["size"])


def test_the_example_of_the_module():
    assert doctest.testmod(trimtab, optionflags=doctest.ELLIPSIS).failed == 0


def test_it_finds_the_best():
    tuner = Tuner(KNOBS, seed=3, budget=40)
    for ask in tuner:
        tuner.tell(ask, cost(ask.config))
    assert (len(tuner), tuner.best.config) == (40, {"mode": "fast", "gain": 21, "size": "s"})
    assert tuner.best.value == 0 and tuner.ask() is None
    prediction = tuner.predict(tuner.best.config)
    assert abs(prediction.mean) < 1 and prediction.std_dev > 0
    assert [trial.value for trial in tuner.history] == [cost(trial.config) for trial in tuner.history]


def test_maximizing_forbidden_and_texts_of_the_command_line():
    tuner = Tuner({"a": "1..9", "b": ["x", "y"]}, goal="maximize", forbid="a=9 | b=y & a>4", budget=13)
    for ask in tuner:
        assert ask["a"] != 9 and not (ask["b"] == "y" and ask["a"] > 4)
        tuner.tell(ask, ask["a"])
    assert tuner.best.config == {"a": 8, "b": "x"} and len(tuner) == 12


def test_knobs_that_matter_only_sometimes():
    knobs = {"unroll": ["off", "on"], "factor": [2, 4, 8], "opt": ["O1", "O2"]}
    tuner = Tuner(knobs, only_if="unroll=on: factor", noise="none", budget=20)
    for ask in tuner:
        assert (ask["factor"] is None) == (ask["unroll"] == "off")
        tuner.tell(ask, (ask["factor"] or 20) + len(ask["opt"]))
    assert len(tuner) == 2 * (1 + 3)
    with pytest.raises(TrimtabError, match="name `opt` before `unroll`"):
        Tuner(knobs, only_if=["opt=O1: unroll"])


def test_failures_are_not_asked_again():
    tuner = Tuner({"a": range(8), "b": nominal("x", "y")}, budget=16, noise="none")
    seen = []
    for ask in tuner:
        assert ask.config not in seen
        seen.append(ask.config)
        tuner.failed(ask, "no lock") if ask["b"] == "y" else tuner.tell(ask.id, ask["a"])
    assert len(seen) == 16 and {trial.failed for trial in tuner.history} == {None, "no lock"}


def test_several_values_numpy_and_what_was_measured_before():
    tuner = Tuner({"a": graded(np.arange(8))}, budget=20)
    tuner.tell({"a": np.int64(3)}, np.float32(2.0))
    tuner.tell({"a": 4}, [1.0, 1.5, 0.5])
    assert tuner.best.value == pytest.approx(1.0, abs=0.5)
    tuner.enqueue({"a": 7})
    assert tuner.ask()["a"] == 7 and len(tuner.pending) == 1
    tuner.cancel({"a": 7})
    assert tuner.pending == []


def test_as_many_asks_are_pending_as_it_says():
    tuner = Tuner({"a": graded(range(200))}, noise="none")
    asked = [tuner.ask()["a"] for _ in range(64)]
    assert len(set(asked)) == 64 and len(tuner.pending) == 64
    with pytest.raises(TrimtabError, match="64 combinations are asked and not told"):
        tuner.ask()


@pytest.mark.parametrize(
    "knobs, options, message",
    [
        ({}, {}, "a space needs a knob"),
        ({"a": [1]}, {}, "at least two levels"),
        ({"a": [1, 1.0]}, {}, "occurs twice"),
        ({"a b": [1, 2]}, {}, "is not a valid name"),
        ({"a": graded("x", "y")}, {}, "graded levels must be numbers"),
        ({"a": graded(0, 1, log=True)}, {}, "above 0"),
        ({"a": [1, 2]}, {"goal": "up"}, '`goal` must be "minimize" or "maximize"'),
        ({"a": [1, 2]}, {"budget": 0}, "from 1 to 1024"),
        ({"a": [1, 2]}, {"seed": -1}, "`seed` must be a whole number"),
        ({"a": [1, 2]}, {"noise": 0}, "`noise` must be"),
        ({"a": [1, 2]}, {"forbid": "b=1"}, "b"),
        ({"a": [1, object()]}, {}, "levels must be texts, numbers or truth values"),
        ({"a": [1, float("nan")]}, {}, "levels must be texts, numbers or truth values"),
    ],
)
def test_bad_studies_say_what_is_wrong(knobs, options, message):
    with pytest.raises(TrimtabError) as error:
        Tuner(knobs, **options)
    assert message in str(error.value)


def test_a_refused_call_changes_nothing(tmp_path):
    log = tmp_path / "run.jsonl"
    tuner = Tuner(KNOBS, budget=5, log=log)
    ask = tuner.ask()
    before = log.read_bytes()
    for call, message in [
        (lambda: tuner.tell(ask, float("nan")), "finite"),
        (lambda: tuner.tell(ask, 1e300), "finite"),
        (lambda: tuner.tell(7, 1.0), "no ask with the id 7 is pending"),
        (lambda: tuner.tell({"mode": "fast"}, 1.0), "knob `gain` has no level"),
        (lambda: tuner.tell({**ask.config, "gain": 99}, 1.0), "knob `gain` has no level 99"),
        (lambda: tuner.predict({"x": 1}), "there is no knob `x`"),
        (lambda: tuner.cancel(ask), "cannot be cancelled"),
    ]:
        with pytest.raises(TrimtabError, match=message):
            call()
    assert log.read_bytes() == before and len(tuner) == 0
    tuner.tell(ask, 1.0)
    assert len(tuner) == 1


def test_a_stopped_program_goes_on_with_the_same_bits(tmp_path):
    def steps(tuner, count):
        for _ in range(count):
            ask = (tuner.pending or [tuner.ask()])[0]
            if ask["size"] == "l":
                tuner.failed(ask)
            else:
                tuner.tell(ask, cost(ask.config))
        return tuner

    whole = steps(Tuner(KNOBS, seed=5, budget=24), 24)
    log = tmp_path / "run.jsonl"
    first = steps(Tuner(KNOBS, seed=5, budget=24, log=log), 9)
    first.ask()
    # One program at a time writes to a log.
    with pytest.raises(TrimtabError, match="another trimtab is writing"):
        Tuner.resume(log)
    del first
    second = steps(Tuner(KNOBS, seed=5, budget=24, log=log), 6)
    del second
    third = steps(Tuner.resume(log), 9)
    assert third.history == whole.history and third.best == whole.best
    del third
    [run] = trimtab.replay(log)
    assert (run.proposals, run.same, run.difference) == (24, 24, None), run.lines
    with pytest.raises(TrimtabError, match="belongs to another run: the seed was 5 and is 6"):
        Tuner(KNOBS, seed=6, budget=24, log=log)
    log.write_text(log.read_text().replace('"value":', '"value":1', 1))
    with pytest.raises(TrimtabError, match="its checksum is wrong"):
        Tuner.resume(log)


def test_pictures_for_a_notebook(tmp_path):
    tuner = Tuner(KNOBS, budget=20)
    for ask in tuner:
        tuner.failed(ask, "<script>") if ask["size"] == "l" else tuner.tell(ask, cost(ask.config))
    picture, page = tuner.plot(), tuner.report()
    assert picture.svg.startswith("<svg") and picture.svg.count("<circle") == 20
    assert picture._repr_html_().startswith("<img")
    assert "What each knob does" in page.html and "<script" not in page.html
    assert 'sandbox=""' in page._repr_html_()
    picture.save(tmp_path / "a.svg")
    page.save(tmp_path / "a.html")
    assert (tmp_path / "a.svg").read_text() == picture.svg


def test_threads_share_a_tuner():
    from concurrent.futures import ThreadPoolExecutor

    tuner = Tuner(KNOBS, budget=60)

    def one(_):
        ask = tuner.ask()
        tuner.tell(ask, cost(ask.config))
        return ask.id

    with ThreadPoolExecutor(4) as pool:
        assert sorted(pool.map(one, range(60))) == list(range(1, 61))
    assert len(tuner) == 60
