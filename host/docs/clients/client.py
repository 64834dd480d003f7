# Tunes two knobs of a made-up machine through `trimtab serve`: python3 client.py [path of trimtab]
import json, subprocess, sys

trimtab = subprocess.Popen([sys.argv[1] if len(sys.argv) > 1 else "trimtab", "serve"],
                           stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
def call(op, **fields):
    print(json.dumps({"op": op, **fields}), file=trimtab.stdin, flush=True)
    answer = json.loads(trimtab.stdout.readline())
    if "error" in answer: sys.exit(answer["error"])
    return answer

call("init", seed=1, budget=20, knobs=[{"name": "mode", "levels": ["slow", "fast"]}, {"name": "gain", "levels": list(range(32))}])
while "id" in (asked := call("ask")):
    gain, mode = asked["config"]["gain"], asked["config"]["mode"]
    call("tell", id=asked["id"], value=abs(gain - 21) + (5 if mode == "slow" else 0))  # the measurement
best = call("best")["observed"]
print(f"{best['config']['mode']} {best['config']['gain']} {best['value']:g}")
