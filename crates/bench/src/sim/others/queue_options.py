"""The options of `headworks sim` that the textbook's queues need."""

import argparse


def parse():
    """`service_cv` of the times in service, of which the mean is 1 s; `queue` is None without a limit."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--load", type=float, required=True)
    for name in ["threads", "processors", "seed"]:
        parser.add_argument(f"--{name}", type=int, required=True)
    parser.add_argument("--queue", type=limit, required=True)
    parser.add_argument("--service", type=coefficient, required=True, dest="service_cv")
    parser.add_argument("--discipline", choices=["fcfs", "ps"], required=True)
    parser.add_argument("--method")
    # What all of them have to be told, and is the same for all.
    parser.add_argument("--dynamic", choices=["0"])
    parser.add_argument("--static-time", choices=["1s"])
    options = parser.parse_args()
    options.rate = options.load * options.processors
    return options


def limit(text):
    return None if text == "none" else int(text)


def coefficient(text):
    """Of the law's name, `exponential` or `h2:CV`."""
    return 1.0 if text == "exponential" else float(text.removeprefix("h2:"))
