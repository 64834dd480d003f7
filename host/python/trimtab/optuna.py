"""trimtab as a sampler of Optuna studies: ``optuna.create_study(sampler=TrimtabSampler(seed=1))``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from threading import Lock
from typing import Any

from optuna.distributions import BaseDistribution, CategoricalDistribution, IntDistribution
from optuna.samplers import BaseSampler, RandomSampler
from optuna.search_space import IntersectionSearchSpace
from optuna.study import Study, StudyDirection
from optuna.trial import FrozenTrial, TrialState

from . import Ask, TrimtabError, Tuner, graded, nominal
from ._trimtab import MOST_PENDING

_MOST_LEVELS = 256
_CONSTRAINTS = "constraints"


class TrimtabSampler(BaseSampler):
    """Samples categorical and integer parameters together; all others go to ``independent_sampler``.

    A failed or pruned trial, and one with a constraint above 0, is told as a failure: the tuner avoids
    its like. Parameters with more than 256 values, and those that not every trial has, are sampled
    independently, as is everything when nothing is left to ask or more than 64 trials run at once.
    """

    def __init__(
        self,
        *,
        seed: int | None = None,
        noise: str | float = "auto",
        constraints_func: Callable[[FrozenTrial], Sequence[float]] | None = None,
        independent_sampler: BaseSampler | None = None,
    ) -> None:
        self._seed = seed
        self._noise = noise
        self._constraints_func = constraints_func
        self._independent = independent_sampler or RandomSampler(seed=seed)
        self._space = IntersectionSearchSpace(include_pruned=True)
        self._turn = 0
        # Optuna's jobs are threads.
        self._lock = Lock()
        self._forget()

    def _forget(self) -> None:
        self._tuner: Tuner | None = None
        self._about: tuple[int, dict[str, BaseDistribution], StudyDirection] | None = None
        self._told: set[int] = set()
        self._asked: dict[int, dict[str, Any]] = {}

    def __getstate__(self) -> dict[str, Any]:
        """Without the tuner, which the trials of a study rebuild."""
        return {**self.__dict__, "_lock": None, "_tuner": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._lock = Lock()
        self._forget()

    def reseed_rng(self) -> None:
        """Called in each worker process: it samples differently from then on."""
        self._independent.reseed_rng()
        self._turn += 1
        self._forget()

    def infer_relative_search_space(self, study: Study, trial: FrozenTrial) -> dict[str, BaseDistribution]:
        space = self._space.calculate(study)
        return {name: own for name, own in space.items() if not own.single() and _count(own) <= _MOST_LEVELS}

    def sample_relative(
        self, study: Study, trial: FrozenTrial, search_space: dict[str, BaseDistribution]
    ) -> dict[str, Any]:
        _check_single(study)
        known = {name: own for name, own in search_space.items() if _count(own) <= _MOST_LEVELS and not own.single()}
        params: dict[str, Any] = {}
        with self._lock:
            ask = self._next(study, trial, known) if known else None
            if ask is not None:
                self._asked[trial.number] = ask.config
        if ask is not None:
            params = {name: _value(own, int(ask[name])) for name, own in known.items()}
        for name, own in search_space.items():
            if name not in params:
                params[name] = self._independent.sample_independent(study, trial, name, own)
        return params

    def _next(self, study: Study, trial: FrozenTrial, known: dict[str, BaseDistribution]) -> Ask | None:
        if len(self._asked) - len(self._told & self._asked.keys()) >= MOST_PENDING:
            return None
        tuner = self._catch_up(study, trial, known)
        return None if len(tuner.pending) >= MOST_PENDING else tuner.ask()

    def _catch_up(self, study: Study, trial: FrozenTrial, search_space: dict[str, BaseDistribution]) -> Tuner:
        """Tells the tuner what it does not know yet."""
        about = (study._study_id, search_space, study.direction)
        if self._tuner is None or self._about != about:
            self._forget()
            goal = "maximize" if study.direction == StudyDirection.MAXIMIZE else "minimize"
            seed = (self._seed if self._seed is not None else study._study_id) + 7919 * self._turn
            knobs = {name: _knob(own) for name, own in search_space.items()}
            self._tuner, self._about = Tuner(knobs, goal=goal, seed=seed, noise=self._noise), about
        tuner = self._tuner
        for other in study._storage.get_all_trials(study._study_id, deepcopy=False):
            if other.number == trial.number or other.number in self._told:
                continue
            config = _config(other, search_space)
            asked = self._asked.get(other.number)
            if not other.state.is_finished():
                # Of another process or by hand: not to be asked meanwhile.
                if asked is None and config is not None and len(tuner.pending) < MOST_PENDING:
                    # It refuses what another trial measures already, or what failed.
                    with suppress(TrimtabError):
                        self._asked[other.number] = tuner.ask_for(config).config
                continue
            self._told.add(other.number)
            if asked is not None and asked != config:
                with suppress(TrimtabError):
                    # By another trial it may have an outcome already.
                    tuner.cancel(asked)
            if config is None or len(tuner) >= tuner.study["budget"]:
                continue
            with suppress(TrimtabError):
                # It refuses a combination that failed before, or that is exact, and that chance drew again.
                if other.state == TrialState.COMPLETE and other.value is not None and _keeps_constraints(other):
                    tuner.tell(config, other.value)
                else:
                    tuner.failed(config, other.state.name.lower())
        return tuner

    def sample_independent(
        self, study: Study, trial: FrozenTrial, param_name: str, param_distribution: BaseDistribution
    ) -> Any:
        _check_single(study)
        return self._independent.sample_independent(study, trial, param_name, param_distribution)

    def before_trial(self, study: Study, trial: FrozenTrial) -> None:
        self._independent.before_trial(study, trial)

    def after_trial(
        self, study: Study, trial: FrozenTrial, state: TrialState, values: Sequence[float] | None
    ) -> None:
        if self._constraints_func is not None and state in (TrialState.COMPLETE, TrialState.PRUNED):
            constraints = tuple(float(one) for one in self._constraints_func(trial))
            if any(one != one for one in constraints):
                raise ValueError("Constraint values cannot be NaN.")
            study._storage.set_trial_system_attr(trial._trial_id, _CONSTRAINTS, constraints)
        self._independent.after_trial(study, trial, state, values)


def _check_single(study: Study) -> None:
    if len(study.directions) > 1:
        raise ValueError("trimtab tunes one objective; this study has several")


def _config(trial: FrozenTrial, search_space: dict[str, BaseDistribution]) -> dict[str, Any] | None:
    """The levels of a trial, or `None` if it lies outside."""
    config = {}
    for name, own in search_space.items():
        if name not in trial.params or trial.distributions[name] != own:
            return None
        config[name] = _level(own, trial.params[name])
    return config


def _keeps_constraints(trial: FrozenTrial) -> bool:
    constraints = trial.system_attrs.get(_CONSTRAINTS) or getattr(trial, "constraints", None) or ()
    return all(one <= 0 for one in constraints)


def _count(own: BaseDistribution) -> float:
    if isinstance(own, CategoricalDistribution):
        return len(own.choices)
    if isinstance(own, IntDistribution):
        return (own.high - own.low) // own.step + 1
    return float("inf")


def _knob(own: BaseDistribution) -> Any:
    """Levels are places for choices, which may be anything, and numbers for integers."""
    if isinstance(own, CategoricalDistribution):
        return nominal(range(len(own.choices)))
    assert isinstance(own, IntDistribution)
    return graded(range(own.low, own.high + 1, own.step), log=own.log)


def _level(own: BaseDistribution, value: Any) -> int:
    return int(own.to_internal_repr(value))


def _value(own: BaseDistribution, level: int) -> Any:
    return own.choices[level] if isinstance(own, CategoricalDistribution) else level
