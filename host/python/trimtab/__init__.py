"""Bayesian optimization of discrete settings, with the bits of a microcontroller.

>>> from trimtab import Tuner, graded, nominal
>>> tuner = Tuner({"mode": nominal("slow", "fast"), "gain": graded(range(32))}, seed=1, budget=20)
>>> for ask in tuner:
...     tuner.tell(ask, abs(ask["gain"] - 21) + (5 if ask["mode"] == "slow" else 0))
>>> tuner.best.config
{'mode': 'fast', 'gain': 21}
"""

from ._trimtab import TrimtabError, __version__
from .knobs import Knob, Level, graded, nominal, ranked
from .tuner import Ask, Best, Page, Picture, Prediction, Run, Trial, Tuner, replay

__all__ = [
    "Ask", "Best", "Knob", "Level", "Page", "Picture", "Prediction", "Run", "Trial", "TrimtabError", "Tuner",
    "__version__", "graded", "nominal", "ranked", "replay",
]
