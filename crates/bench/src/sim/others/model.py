"""The options of `headworks sim` for simulators in Python, and the form of their results."""

import argparse
import json
from math import sqrt


def parse():
    """What is simulated; `gap`, `demands` and their chances in seconds."""
    parser = argparse.ArgumentParser()
    for name in ["load", "cv", "dynamic", "dynamic-cost", "service-cv"]:
        parser.add_argument(f"--{name}", type=float, required=True)
    parser.add_argument("--static-time", type=milliseconds, required=True)
    for name in ["threads", "queue", "replications", "warmup", "requests", "seed"]:
        parser.add_argument(f"--{name}", type=int, required=True)
    model = parser.parse_args()
    model.short_gaps = likelier_phase(model.cv)
    model.dynamic_time = model.static_time * model.dynamic_cost
    demand = model.static_time * (1 - model.dynamic) + model.dynamic_time * model.dynamic
    model.mean_gap = demand / model.load
    # The shape and, for a mean of 1, the scale of gamma distributed demands.
    model.shape, model.scale = 1 / model.service_cv**2, model.service_cv**2
    return model


def likelier_phase(cv):
    """Of two exponential phases with as much time in each (balanced means): the chance of the shorter one."""
    return 0.5 * (1 + sqrt((cv * cv - 1) / (cv * cv + 1)))


def milliseconds(text):
    return float(text.removesuffix("ms")) / 1e3


def report(events, rejected, latency):
    """`rejected` and `latency` have a value for each replication."""
    print(json.dumps({"events": events, "rejected": rejected, "latency": latency}))
