"""Optuna's TPE for `trimtab bench --method optuna-tpe`: JSON lines on standard input and output.

The first line has the knobs and the seed. Then `{"ask": true}` is answered by the levels, and `{"levels": …, "cost": …}` tells a cost.
"""

import json
import sys

import optuna
from optuna.distributions import CategoricalDistribution, IntDistribution

optuna.logging.set_verbosity(optuna.logging.ERROR)
setup = json.loads(sys.stdin.readline())
study = optuna.create_study(sampler=optuna.samplers.TPESampler(seed=setup["seed"]))
space = {
    f"knob{i}": IntDistribution(0, knob["levels"] - 1) if knob["graded"] else CategoricalDistribution(range(knob["levels"]))
    for i, knob in enumerate(setup["knobs"])
}
asked = None
for line in sys.stdin:
    message = json.loads(line)
    if "ask" in message:
        asked = asked or study.ask(space)
        print(json.dumps(list(asked.params.values())), flush=True)
        continue
    params = dict(zip(space, message["levels"]))
    if asked and asked.params == params:
        study.tell(asked, message["cost"])
        asked = None
    else:
        study.add_trial(optuna.trial.create_trial(params=params, distributions=space, value=message["cost"]))
