"""A textbook's queue with LINE: its mean value analysis, its Markov chain, or its simulator."""

import contextlib
import sys

from line_solver import (
    CTMC,
    LDES,
    MVA,
    Exp,
    HyperExp,
    Network,
    OpenClass,
    Queue,
    SchedStrategy,
    Sink,
    Source,
)

from model import report
from queue_options import parse


def build(options):
    model = Network("queue")
    source, sink = Source(model, "source"), Sink(model, "sink")
    discipline = SchedStrategy.PS if options.discipline == "ps" else SchedStrategy.FCFS
    server = Queue(model, "server", discipline)
    requests = OpenClass(model, "requests")
    source.set_arrival(requests, Exp(options.rate))
    cv = options.service_cv
    server.set_service(requests, Exp(1.0) if cv == 1.0 else HyperExp.fit_mean_and_scv_balanced(1.0, cv * cv))
    if options.discipline == "fcfs" and options.threads > 1:
        server.set_number_of_servers(options.threads)
    if options.queue is not None:
        server.set_capacity(options.threads + options.queue)
    model.link(Network.serial_routing(source, server, sink))
    return model


def solve(options):
    model = build(options)
    if options.method == "mva":
        return MVA(model)
    if options.method == "ctmc":
        return CTMC(model, cutoff=options.threads + options.queue)
    return LDES(model, seed=options.seed, samples=1_000_000)


def main():
    options = parse()
    # It says how it goes on standard output.
    with contextlib.redirect_stdout(sys.stderr):
        table = solve(options).get_avg_table()
    server = table[table["Station"] == "server"].iloc[0]
    # Events are not counted.
    report(0, [1 - server["Tput"] / options.rate], [server["RespT"]])


main()
