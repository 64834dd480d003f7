"""Seconds per ask and tell beside Optuna's TPE: python benches/speed.py

24 switches, an objective that costs nothing, the mean over the last 32 measurements of a run, fits included; everything in one
process and thread.
"""

import statistics
import time

import optuna

from trimtab import Tuner, nominal
from trimtab.optuna import TrimtabSampler

SWITCHES = [f"s{i}" for i in range(24)]
optuna.logging.set_verbosity(optuna.logging.ERROR)


def cost(levels):
    return sum(level * (i % 5 - 1.7) for i, level in enumerate(levels)) + 3 * abs(sum(levels) - 9)


def last(seconds):
    return statistics.mean(seconds[-32:])


def of_tuner(count):
    tuner, seconds = Tuner({name: nominal(0, 1) for name in SWITCHES}, budget=count), []
    for _ in range(count):
        begin = time.perf_counter()
        ask = tuner.ask()
        between = time.perf_counter()
        value = cost(ask.config.values())
        again = time.perf_counter()
        tuner.tell(ask, value)
        seconds.append(time.perf_counter() - again + between - begin)
    return last(seconds)


def of_sampler(sampler, count):
    study, seconds = optuna.create_study(sampler=sampler), []
    for _ in range(count):
        begin = time.perf_counter()
        trial = study.ask()
        levels = [trial.suggest_categorical(name, [0, 1]) for name in SWITCHES]
        study.tell(trial, cost(levels))
        seconds.append(time.perf_counter() - begin)
    return last(seconds)


print("| measurements so far | `Tuner` | `TrimtabSampler` | Optuna's TPE |\n|---:|---:|---:|---:|")
for count in [50, 100, 200]:
    tuner, own = of_tuner(count), of_sampler(TrimtabSampler(seed=1), count)
    tpe = of_sampler(optuna.samplers.TPESampler(seed=1), count)
    print(f"| {count} | {1e3 * tuner:.2f} ms | {1e3 * own:.2f} ms | {1e3 * tpe:.2f} ms |", flush=True)
