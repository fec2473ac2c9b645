"""A textbook's queue with Ciw."""

import ciw

from model import likelier_phase, report
from queue_options import parse

REPLICATIONS, WARMUP, REQUESTS = 10, 2_000, 20_000


def service(cv):
    """Exponential, or of two exponential phases."""
    if cv == 1.0:
        return ciw.dists.Exponential(1.0)
    chances = [likelier_phase(cv), 1 - likelier_phase(cv)]
    return ciw.dists.HyperExponential([2 * chance for chance in chances], chances)


def replicate(options):
    network = ciw.create_network(
        arrival_distributions=[ciw.dists.Exponential(options.rate)],
        service_distributions=[service(options.service_cv)],
        number_of_servers=[float("inf") if options.discipline == "ps" else options.threads],
        queue_capacities=[float("inf") if options.queue is None else options.queue],
    )
    node = ciw.PSNode if options.discipline == "ps" else ciw.Node
    simulation = ciw.Simulation(network, node_class=node)
    simulation.simulate_until_max_customers(WARMUP + REQUESTS, method="Arrive")
    records = [record for record in simulation.get_all_records() if record.id_number > WARMUP]
    served = [record for record in records if record.record_type == "service"]
    rejected = sum(record.record_type == "rejection" for record in records)
    latencies = [record.exit_date - record.arrival_date for record in served]
    return rejected / REQUESTS, sum(latencies) / len(latencies)


def main():
    options = parse()
    ciw.seed(options.seed)
    # Events are not counted.
    report(0, *zip(*(replicate(options) for _ in range(REPLICATIONS))))


main()
