"""The model of `headworks sim` with as little of SimPy as will do, for speed.

Arrivals are a process; all else is the algorithm of the C++ program, with a timeout that stands for
the next completion. A timeout cannot be taken back, so one that is no longer the latest is ignored
when it comes.
"""

import random
from collections import deque
from heapq import heappop, heappush

from replications import simulate


class Server:
    def __init__(self, env, model):
        self.env = env
        self.threads, self.queue = model.threads, model.queue
        self.running, self.waiting = [], deque()
        # Service that each running job has attained since the server was empty, at `at`.
        self.attained = self.at = 0.0
        self.latest = None
        self.clear()

    def clear(self):
        self.rejected = self.served = 0
        self.latency = 0.0

    def offer(self, demand):
        if len(self.running) < self.threads:
            now = self.env.now
            if self.running:
                self.attained += (now - self.at) / len(self.running)
            else:
                self.attained = 0.0
            self.at = now
            heappush(self.running, (self.attained + demand, now))
            self.look_ahead()
        elif len(self.waiting) < self.queue:
            self.waiting.append((self.env.now, demand))
        else:
            self.rejected += 1

    def look_ahead(self):
        if self.running:
            left = max(0.0, self.running[0][0] - self.attained) * len(self.running)
            self.latest = self.env.timeout(left)
            self.latest.callbacks.append(self.complete)

    def complete(self, event):
        if event is not self.latest:
            return
        now = self.env.now
        self.attained, arrived = heappop(self.running)
        self.at = now
        self.served += 1
        self.latency += now - arrived
        if self.waiting:
            arrived, demand = self.waiting.popleft()
            heappush(self.running, (self.attained + demand, arrived))
        self.look_ahead()


def arrive(env, model, server, requests):
    chance, exponential, gamma = random.random, random.expovariate, random.gammavariate
    short = model.short_gaps
    for _ in range(requests):
        share = short if chance() < short else 1 - short
        yield env.timeout(exponential(2 * share / model.mean_gap))
        mean = model.dynamic_time if chance() < model.dynamic else model.static_time
        server.offer(mean * gamma(model.shape, model.scale))


simulate(Server, arrive)
