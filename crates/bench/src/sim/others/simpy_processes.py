"""The model of `headworks sim` in the manner of SimPy: each request is a process that requests a
thread and waits for the processor, which is a process too and is told of each newcomer.
"""

import random
from heapq import heappop, heappush

import simpy

from replications import simulate


class Server:
    def __init__(self, env, model):
        self.env, self.queue = env, model.queue
        self.threads = simpy.Resource(env, model.threads)
        self.running = []
        # Service that each running request has attained since the server was empty, at `at`.
        self.attained = self.at = 0.0
        self.changed = env.event()
        self.clear()
        env.process(self.share())

    def clear(self):
        self.rejected = self.served = 0
        self.latency = 0.0

    def serve(self, demand):
        if len(self.threads.queue) >= self.queue and self.threads.count >= self.threads.capacity:
            self.rejected += 1
            return
        arrived = self.env.now
        with self.threads.request() as thread:
            yield thread
            yield self.work(demand)
        self.served += 1
        self.latency += self.env.now - arrived

    def work(self, demand):
        """An event for when the processor has worked so long on this."""
        self.catch_up()
        done = self.env.event()
        heappush(self.running, (self.attained + demand, id(done), done))
        self.changed.succeed()
        self.changed = self.env.event()
        return done

    def catch_up(self):
        if self.running:
            self.attained += (self.env.now - self.at) / len(self.running)
        else:
            self.attained = 0.0
        self.at = self.env.now

    def share(self):
        while True:
            if not self.running:
                yield self.changed
                continue
            changed = self.changed
            left = max(0.0, self.running[0][0] - self.attained) * len(self.running)
            completion = self.env.timeout(left)
            yield completion | changed
            if completion.processed:
                self.attained, _, done = heappop(self.running)
                self.at = self.env.now
                done.succeed()


def arrive(env, model, server, requests):
    for _ in range(requests):
        short = random.random() < model.short_gaps
        share = model.short_gaps if short else 1 - model.short_gaps
        yield env.timeout(random.expovariate(2 * share / model.mean_gap))
        mean = model.dynamic_time if random.random() < model.dynamic else model.static_time
        env.process(server.serve(mean * random.gammavariate(model.shape, model.scale)))


simulate(Server, arrive)
