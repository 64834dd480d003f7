"""A tuner: ask what to measure, tell what came of it."""

from __future__ import annotations

import base64
import html
import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Union

from . import _trimtab
from .knobs import Knob, Level

PathLike = Union[str, "os.PathLike[str]"]


@dataclass(frozen=True)
class Ask:
    """A combination to measure; ``ask["gain"]`` is its level of a knob."""

    id: int
    config: dict[str, Level]
    #: What the model expects; ``None`` before the first outcome.
    mean: float | None
    std_dev: float | None

    def __getitem__(self, knob: str) -> Level:
        return self.config[knob]


@dataclass(frozen=True)
class Trial:
    """An ask and its outcome: a value, or why it failed."""

    id: int
    config: dict[str, Level]
    mean: float | None
    std_dev: float | None
    value: float | None
    failed: str | None
    #: The numbers that limits are on.
    numbers: dict[str, float] = field(default_factory=dict)
    #: Whether it was measured and keeps all limits.
    keeps: bool = True


@dataclass(frozen=True)
class Best:
    """The best combination that keeps all limits. With noise, by the model and with its uncertainty; else
    the best value."""

    config: dict[str, Level]
    value: float
    std_dev: float | None
    #: Number of measurements.
    measured: int
    #: The numbers that limits are on; with noise, their means.
    numbers: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Prediction:
    """What the model expects of a combination."""

    mean: float
    std_dev: float
    #: How likely it is to keep all limits; ``None`` without limits.
    keep_chance: float | None = None


@dataclass(frozen=True)
class Run:
    """A run of a log, repeated: how many proposals are the same to the bit."""

    name: str
    proposals: int
    same: int
    #: Asks of a ``tune`` log that were not the tuner's choice; their predictions are the same to the bit.
    chosen: int
    #: The first difference, if there is one.
    difference: str | None
    lines: list[str]


@dataclass(frozen=True)
class Picture:
    """A picture that a notebook shows."""

    svg: str

    def save(self, path: PathLike) -> None:
        """Writes the SVG."""
        Path(path).write_text(self.svg, encoding="utf-8")

    def _repr_html_(self) -> str:
        # As an image, so that its style sheet stays its own.
        data = base64.b64encode(self.svg.encode()).decode()
        return f'<img alt="Best so far" src="data:image/svg+xml;base64,{data}">'


@dataclass(frozen=True)
class Page:
    """A page that a notebook shows."""

    html: str

    def save(self, path: PathLike) -> None:
        """Writes the page."""
        Path(path).write_text(self.html, encoding="utf-8")

    def _repr_html_(self) -> str:
        page = html.escape(self.html, quote=True)
        return f'<iframe sandbox="" style="width:100%;height:640px;border:1px solid" srcdoc="{page}"></iframe>'


Place = Union[Ask, Mapping[str, Level], int]


class Tuner:
    """Tunes named knobs.

    ``knobs`` maps names to :func:`nominal`, :func:`ranked` or :func:`graded` levels, to plain lists
    (numbers are graded, all else is nominal), or to texts as on the command line (``"16..256:16"``).
    ``forbid`` has expressions such as ``"opt=O1 & unroll=8"``. ``only_if`` says which knobs matter only
    sometimes, such as ``"unroll=on: factor"``; elsewhere their level is ``None``. ``noise`` is ``"auto"``, ``"none"`` or the
    standard deviation of one measurement. ``limits`` are up to four bounds on further numbers, such as
    ``"watts<3"`` or ``"log(errors)<=1e-6"``: the best is the best that keeps them. With a ``log`` every event is kept on disk, in the format of
    ``trimtab tune``: the same call goes on where a stopped program was. Refused calls raise
    :class:`TrimtabError` and change nothing.
    """

    def __init__(
        self,
        knobs: Mapping[str, Knob | Sequence[Level] | str],
        *,
        goal: str = "minimize",
        seed: int = 1,
        budget: int | None = None,
        noise: str | float = "auto",
        forbid: str | Iterable[str] = (),
        only_if: str | Iterable[str] = (),
        limits: str | Iterable[str] = (),
        log: PathLike | None = None,
    ) -> None:
        study: dict[str, Any] = {"goal": goal, "seed": seed, "noise": noise}
        if budget is not None:
            study["budget"] = budget
        study["knobs"] = [_knob(name, knob) for name, knob in knobs.items()]
        study["forbid"] = [forbid] if isinstance(forbid, str) else list(forbid)
        study["only_if"] = [only_if] if isinstance(only_if, str) else list(only_if)
        study["limits"] = [limits] if isinstance(limits, str) else list(limits)
        self._session = _trimtab.Session(_written(study), None if log is None else os.fspath(log))

    @classmethod
    def resume(cls, log: PathLike) -> Tuner:
        """Goes on with a log of a ``Tuner`` or of ``trimtab tune``."""
        own = cls.__new__(cls)
        own._session = _trimtab.Session.resume(os.fspath(log))
        return own

    def ask(self) -> Ask | None:
        """The next combination to measure, or ``None`` if the budget is spent or nothing is left."""
        asked = json.loads(self._session.ask())
        return None if "end" in asked else _ask(asked)

    def ask_for(self, config: Mapping[str, Level]) -> Ask:
        """An ask for a combination of your choice."""
        return _ask(json.loads(self._session.ask_for(_place(config))))

    def __iter__(self) -> Iterator[Ask]:
        """Asks until there is nothing more to ask; tell each before the next."""
        while (ask := self.ask()) is not None:
            yield ask

    def tell(
        self,
        what: Place,
        value: float | Sequence[float],
        *,
        numbers: Mapping[str, float | Sequence[float]] | None = None,
    ) -> None:
        """Tells the value of an ask or of a combination; several values of one combination tell their spread.

        ``numbers`` has every number that a limit is on, by name; of several, the mean counts.
        """
        values = [float(one) for one in value] if isinstance(value, Sequence) else [float(value)]
        self._session.tell(_place(what), values, {name: _mean(one) for name, one in (numbers or {}).items()})

    def failed(self, what: Place, why: str = "") -> None:
        """Tells that a measurement failed: it is not asked again, and the model learns from it."""
        self._session.failed(_place(what), why)

    def cancel(self, what: Place) -> None:
        """Gives up an ask, which may then be asked again; with a log, tell its failure instead."""
        self._session.cancel(_place(what))

    def enqueue(self, config: Mapping[str, Level]) -> None:
        """Has a combination asked before all others, such as the defaults of a data sheet."""
        self._session.enqueue(_place(config))

    @property
    def best(self) -> Best | None:
        """The best so far that keeps all limits, or ``None`` before the first."""
        best = json.loads(self._session.best())
        return None if best is None else Best(**best)

    @property
    def nearest(self) -> Trial | None:
        """The measurement that breaks the limits least: what there is while ``best`` is ``None``."""
        nearest = json.loads(self._session.nearest())
        return None if nearest is None else Trial(**nearest)

    def predict(self, config: Mapping[str, Level]) -> Prediction | None:
        """What the model expects of a combination, or ``None`` before the first outcome."""
        prediction = json.loads(self._session.predict(_place(config)))
        return None if prediction is None else Prediction(**prediction)

    @property
    def pending(self) -> list[Ask]:
        """Asks without an outcome: those under way, and after a stop those to measure again."""
        return [_ask(one) for one in json.loads(self._session.pending())]

    @property
    def history(self) -> list[Trial]:
        """All outcomes in their order."""
        return [Trial(**one) for one in json.loads(self._session.history())]

    @property
    def study(self) -> dict[str, Any]:
        """Goal, seed, budget, noise, limits, knobs and forbidden combinations, as a log has them."""
        return dict(json.loads(self._session.study()))

    @property
    def noise(self) -> float:
        """The standard deviation of one measurement that the model believes in; 0 for none."""
        return self._session.noise()

    @property
    def expected_gain(self) -> float | None:
        """What the next measurement is expected to gain; ``None`` if the model did not choose it."""
        return self._session.expected_gain()

    def is_settled(self, tolerance: float = 0.01) -> bool:
        """Whether 25 more measurements are expected to gain less than this share of the values' spread."""
        return self._session.is_settled(tolerance)

    def __len__(self) -> int:
        """Number of measurements."""
        return self._session.measured()

    def plot(self) -> Picture:
        """Every value and the best so far."""
        return Picture(self._session.plot())

    def report(self) -> Page:
        """What was learned, as ``trimtab report`` shows it."""
        return Page(self._session.report())


def replay(log: PathLike) -> list[Run]:
    """Repeats the runs of a chip's log or of a ``tune`` log, and compares every proposal bit by bit."""
    return [Run(**one) for one in json.loads(_trimtab.replay(os.fspath(log)))]


def _ask(fields: dict[str, Any]) -> Ask:
    return Ask(fields["id"], fields["config"], fields["mean"], fields["std_dev"])


def _knob(name: str, knob: Knob | Sequence[Level] | str) -> dict[str, Any]:
    if isinstance(knob, Knob):
        return {"name": name, "levels": list(knob.levels), "kind": knob.kind}
    return {"name": name, "levels": knob if isinstance(knob, str) else list(knob)}


def _place(what: Place) -> str:
    if isinstance(what, Ask):
        return _written({"id": what.id, "config": what.config})
    return _written({"config": dict(what)} if isinstance(what, Mapping) else {"id": what})


def _mean(number: float | Sequence[float]) -> float:
    if not isinstance(number, Sequence):
        return float(number)
    if not number:
        raise _trimtab.TrimtabError("a number needs a reading")
    return sum(float(one) for one in number) / len(number)


def _written(value: Any) -> str:
    # NumPy's numbers are numbers too; what JSON cannot say (NaN) is refused here.
    try:
        return json.dumps(value, default=lambda own: own.item(), allow_nan=False)
    except (AttributeError, TypeError, ValueError) as error:
        raise _trimtab.TrimtabError(f"levels must be texts, numbers or truth values: {error}") from None
