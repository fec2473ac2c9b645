"""The model of `headworks sim` with Ciw, whose nodes know processor sharing with a limit.

Static and dynamic requests are one class of customers with a mixture of demands, since a class
would have arrivals of its own.
"""

import ciw

from model import parse, report


def network(model):
    chances = [model.short_gaps, 1 - model.short_gaps]
    demands = [ciw.dists.Gamma(model.shape, model.scale * mean) for mean in [model.static_time, model.dynamic_time]]
    return ciw.create_network(
        arrival_distributions=[
            ciw.dists.HyperExponential([2 * chance / model.mean_gap for chance in chances], chances)
        ],
        service_distributions=[
            ciw.dists.MixtureDistribution(demands, [1 - model.dynamic, model.dynamic])
        ],
        number_of_servers=[model.threads],
        queue_capacities=[model.queue],
    )


def replicate(model):
    simulation = ciw.Simulation(network(model), node_class=ciw.PSNode)
    simulation.simulate_until_max_customers(model.warmup + model.requests, method="Arrive")
    records = simulation.get_all_records()
    served = [record for record in records if record.record_type == "service"]
    events = simulation.nodes[0].number_of_individuals + len(served)
    # Customers are numbered from 1 as they come.
    began = max(record.arrival_date for record in records if record.id_number <= model.warmup)
    rejected = sum(record.record_type == "rejection" and record.arrival_date > began for record in records)
    latencies = [record.exit_date - record.arrival_date for record in served if record.exit_date > began]
    return events, rejected / model.requests, sum(latencies) / len(latencies)


def main():
    model = parse()
    ciw.seed(model.seed)
    events, rejected, latency = zip(*(replicate(model) for _ in range(model.replications)))
    report(sum(events), rejected, latency)


main()
