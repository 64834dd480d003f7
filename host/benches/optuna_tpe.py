"""Optuna's TPE on the problem of serve.rs: python3 optuna_tpe.py KNOBS EVALUATIONS SEED, prints the mean time of an ask and a tell, and the best."""

import json
import sys
import time

import optuna

knobs, evaluations, seed = map(int, sys.argv[1:])


def cost(bits):
    weight = lambda i, step: (i * 7919 + step * 104729) % 17 / 8 - 1
    pairs = [(i, (i + step) % knobs, step) for i in range(knobs) for step in (1, 7)]
    return sum(weight(i, step) * (2 * bits[i] - 1) * (2 * bits[j] - 1) for i, j, step in pairs)


optuna.logging.set_verbosity(optuna.logging.WARNING)
study = optuna.create_study(sampler=optuna.samplers.TPESampler(seed=seed))
seconds = 0.0
for _ in range(evaluations):
    before = time.perf_counter()
    trial = study.ask()
    bits = [trial.suggest_categorical(f"b{i}", [0, 1]) for i in range(knobs)]
    seconds += time.perf_counter() - before
    value = cost(bits)
    before = time.perf_counter()
    study.tell(trial, value)
    seconds += time.perf_counter() - before
print(json.dumps({"milliseconds": seconds / evaluations * 1e3, "best": study.best_value}))
