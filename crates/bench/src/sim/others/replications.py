"""What both SimPy programs do with a server and its arrivals."""

import random

import simpy

from model import parse, report


def replicate(model, make_server, arrive):
    env = simpy.Environment()
    server = make_server(env, model)
    env.run(env.process(arrive(env, model, server, model.warmup)))
    events = model.warmup + server.served
    server.clear()
    env.run(env.process(arrive(env, model, server, model.requests)))
    events += model.requests + server.served
    return events, server.rejected / model.requests, server.latency / server.served


def simulate(make_server, arrive):
    model = parse()
    random.seed(model.seed)
    runs = (replicate(model, make_server, arrive) for _ in range(model.replications))
    events, rejected, latency = zip(*runs)
    report(sum(events), rejected, latency)
