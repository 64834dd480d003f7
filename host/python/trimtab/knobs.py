"""Knobs: levels without order, in order, or with values."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Union

Level = Union[str, int, float, bool]


@dataclass(frozen=True)
class Knob:
    """The levels of a knob, and how they compare."""

    levels: tuple[Level, ...]
    kind: str


def nominal(*levels: Level | Iterable[Level]) -> Knob:
    """Levels without order, such as the inputs of a mux: ``nominal("a", "b")`` or ``nominal(["a", "b"])``."""
    return Knob(_listed(levels), "nominal")


def ranked(*levels: Level | Iterable[Level]) -> Knob:
    """Levels in order, evenly spaced: ``ranked("low", "middle", "high")``."""
    return Knob(_listed(levels), "ranked")


def graded(*levels: float | Iterable[float], log: bool = False) -> Knob:
    """Levels with values, compared by their difference, or by their ratio: ``graded(10, 22, 47, log=True)``."""
    return Knob(_listed(levels), "log" if log else "lin")


def _listed(levels: tuple[Any, ...]) -> tuple[Any, ...]:
    if len(levels) == 1 and isinstance(levels[0], Iterable) and not isinstance(levels[0], str):
        levels = tuple(levels[0])
    return levels
