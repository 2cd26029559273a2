"""Kafka's sticky assignor, as kafka-python has it: from scratch, a consumer leaves, one joins.

Arguments: how many partitions, lists and consumers. Prints a line of JSON for each step as soon as
it is done: its seconds, and the consumer of each partition, in the order of the lists.
"""

import json
import sys
import time

from kafka.coordinator.assignors.sticky import sticky_assignor as sticky
from kafka.structs import TopicPartition


class Cluster:
    """What the assignor asks of a cluster."""

    def __init__(self, counts):
        self.counts = counts

    def topics(self):
        return set(self.counts)

    def partitions_for_topic(self, topic):
        return set(range(self.counts[topic]))


def member(cluster, owned):
    generation = 1 if owned else sticky.StickyPartitionAssignor.DEFAULT_GENERATION_ID
    return sticky.StickyAssignorMemberMetadataV1(
        subscription=sorted(cluster.counts), partitions=owned, generation=generation
    )


def assign(cluster, consumers, owned):
    """Assigns, and prints what came of it. Returns the partitions of each consumer."""
    members = {consumer: member(cluster, owned.get(consumer, [])) for consumer in consumers}
    before = time.perf_counter()
    executor = sticky.StickyAssignmentExecutor(cluster, members)
    executor.perform_initial_assignment()
    executor.balance()
    seconds = time.perf_counter() - before
    result = {consumer: list(executor.current_assignment[consumer]) for consumer in consumers}
    owner_of = {it: consumer for consumer, its in result.items() for it in its}
    topics = sorted(cluster.counts.items())
    partitions = [TopicPartition(topic, at) for topic, count in topics for at in range(count)]
    owners = [int(owner_of[partition][1:]) for partition in partitions]
    print(json.dumps({"seconds": seconds, "owners": owners}), flush=True)
    return result


def main():
    partitions, lists, nodes = map(int, sys.argv[1:])
    counts = {f"t{at:04}": partitions // lists + (at < partitions % lists) for at in range(lists)}
    cluster = Cluster(counts)
    consumers = [f"c{at:06}" for at in range(nodes)]
    first = assign(cluster, consumers, {})
    assign(cluster, [it for it in consumers if it != f"c{nodes // 2:06}"], first)
    assign(cluster, consumers + [f"c{nodes:06}"], first)


main()
