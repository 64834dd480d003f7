"""The sampler in Optuna studies, with Optuna's own tests of samplers."""

import pickle

import optuna
import pytest
from optuna.testing.pytest_samplers import BasicSamplerTestCase, RelativeSamplerTestCase, SingleOnlySamplerTestCase
from optuna.trial import TrialState

from trimtab.optuna import TrimtabSampler

optuna.logging.set_verbosity(optuna.logging.WARNING)


class TestOptunasOwn(BasicSamplerTestCase, RelativeSamplerTestCase, SingleOnlySamplerTestCase):
    @pytest.fixture
    def sampler(self):
        return lambda: TrimtabSampler(seed=0)


def objective(trial):
    gain = trial.suggest_int("gain", 0, 31)
    mode = trial.suggest_categorical("mode", ["slow", "fast", None])
    size = trial.suggest_int("size", 1, 64, log=True)
    return abs(gain - 21) + (0 if mode == "fast" else 5) + abs(size - 4)


def test_it_finds_the_best_and_repeats_with_its_seed():
    def run(seed):
        study = optuna.create_study(sampler=TrimtabSampler(seed=seed, noise="none"))
        study.optimize(objective, n_trials=50)
        return study

    first, again = run(1), run(1)
    assert [trial.params for trial in first.trials] == [trial.params for trial in again.trials]
    assert first.best_value <= 1
    # Without noise nothing is measured twice, but for the first, which is drawn at random.
    assert len({tuple(trial.params.items()) for trial in first.trials}) == 50


def test_maximizing():
    study = optuna.create_study(direction="maximize", sampler=TrimtabSampler(seed=2))
    study.optimize(lambda trial: -objective(trial), n_trials=50)
    assert study.best_value >= -1


def test_failures_are_told_and_avoided():
    def failing(trial):
        value = objective(trial)
        if trial.params["mode"] is None:
            raise ArithmeticError
        return value

    study = optuna.create_study(sampler=TrimtabSampler(seed=3))
    study.optimize(failing, n_trials=60, catch=ArithmeticError)
    failed = [trial.number for trial in study.trials if trial.state == TrialState.FAIL]
    assert 1 <= len(failed) <= 12, failed
    assert study.best_value <= 2


def run_with(constraints, seed=4, n_trials=60, **more):
    study = optuna.create_study(sampler=TrimtabSampler(seed=seed, constraints_func=constraints, **more))
    study.optimize(objective, n_trials=n_trials)
    return study


def test_constraints_are_kept():
    # The best without the constraint has gain 21; 14 is the best that keeps it.
    study = run_with(lambda trial: [trial.params["gain"] - 14])
    kept = [trial for trial in study.trials if trial.params["gain"] <= 14]
    assert len(kept) >= 25, len(kept)
    assert min(trial.value for trial in kept) <= 8
    # The border is found, not only avoided: violations are measurements.
    near = [trial for trial in study.trials if 12 <= trial.params["gain"] <= 16]
    assert len(near) >= 15, len(near)


def test_constraints_count_by_their_distance():
    # As failures, violations would say nothing about where the border is.
    def best(study):
        return min(trial.value for trial in study.trials if trial.params["gain"] <= 10)

    found = [best(run_with(lambda trial: [trial.params["gain"] - 10], seed=seed, n_trials=40)) for seed in range(3)]
    assert sum(value <= 12 for value in found) >= 2, found


def test_more_than_four_constraints_infinite_ones_and_names_of_parameters():
    def constraints(trial):
        gain = trial.params["gain"]
        return [-1.0, -2.0, float("-inf"), -3.0, gain - 14, float("inf") if gain > 30 else -1.0]

    study = run_with(constraints)
    assert sum(trial.params["gain"] <= 14 for trial in study.trials) >= 25

    def odd(trial):
        return trial.suggest_int("constraint0", 0, 15) + trial.suggest_int("constraint", 0, 15)

    study = optuna.create_study(sampler=TrimtabSampler(seed=1, constraints_func=lambda trial: [trial.params["constraint"] - 9]))
    study.optimize(odd, n_trials=25)
    assert study.best_value <= 3


def test_a_trial_without_constraints_counts_as_a_failure():
    study = optuna.create_study(sampler=TrimtabSampler(seed=5, constraints_func=lambda trial: [-1.0]))
    distributions = {"gain": optuna.distributions.IntDistribution(0, 31)}
    for gain in (3, 4):
        study.add_trial(optuna.trial.create_trial(params={"gain": gain}, distributions=distributions, value=-9.0))
    study.optimize(lambda trial: abs(trial.suggest_int("gain", 0, 31) - 21), n_trials=25)
    own = [trial for trial in study.trials[2:]]
    assert min(trial.value for trial in own) == 0
    # The tuner does not ask what failed; the first is drawn at random.
    assert all(trial.params["gain"] not in (3, 4) for trial in own[1:])


def test_pruned_trials_and_parallel_ones():
    def pruned(trial):
        value = objective(trial)
        if trial.params["gain"] < 4:
            raise optuna.TrialPruned
        return value

    study = optuna.create_study(sampler=TrimtabSampler(seed=5))
    study.optimize(pruned, n_trials=40, n_jobs=4)
    # Which trial ends first is up to the threads, so the best is not known; but none may be lost.
    states = [trial.state for trial in study.trials]
    assert len(states) == 40 and set(states) == {TrialState.COMPLETE, TrialState.PRUNED}
    assert len(study.sampler._tuner) >= 36


def test_a_pickled_sampler_goes_on():
    study = optuna.create_study(sampler=TrimtabSampler(seed=8, noise="none"))
    study.optimize(objective, n_trials=20)
    study.sampler = pickle.loads(pickle.dumps(study.sampler))
    study.optimize(objective, n_trials=20)
    assert len({tuple(trial.params.items()) for trial in study.trials}) >= 39


def test_ask_and_tell_with_more_at_once_than_the_tuner_keeps():
    study = optuna.create_study(sampler=TrimtabSampler(seed=6))
    study.optimize(objective, n_trials=3)
    trials = [study.ask() for _ in range(12)]
    for trial in trials:
        study.tell(trial, objective(trial))
    study.optimize(objective, n_trials=10)
    assert len(study.trials) == 25


def test_a_study_in_storage_goes_on(tmp_path):
    storage = f"sqlite:///{tmp_path}/study.db"
    for _ in range(2):
        study = optuna.create_study(
            study_name="one", storage=storage, load_if_exists=True, sampler=TrimtabSampler(seed=7, noise="none")
        )
        study.optimize(objective, n_trials=20)
    # The second sampler knows what the first measured.
    assert len({tuple(trial.params.items()) for trial in study.trials}) >= 39
