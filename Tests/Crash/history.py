"""Checks whether a history of transactions is strictly serializable.

Each object has versions, numbered from 0, and each transaction records which versions it read and
wrote. These determine an order between transactions. In real time, a transaction whose reply was
received also precedes each transaction that began later. A cycle means that no such order exists.
The names of dependencies and anomalies are Adya's (Weak Consistency, 1999). Nothing here depends
on Larder.
"""

import collections
import dataclasses

DONE, REFUSED, UNKNOWN = "done", "refused", "unknown"


@dataclasses.dataclass(frozen=True)
class Transaction:
    """A transaction of one client, between two readings of a clock that all clients share."""

    name: str
    began: int
    ended: int
    reads: dict = dataclasses.field(default_factory=dict)  # object: version
    writes: dict = dataclasses.field(default_factory=dict)  # object: version, also if refused
    seen: frozenset = frozenset()  # (object, version, name of its writer) that it read
    outcome: str = DONE


class Edge(collections.namedtuple("Edge", "source kind object target")):
    """`kind` is ww (the target wrote the next version), wr (the target read the version written),
    rw (the target wrote the version after the one read), or time."""

    def __str__(self):
        return f"{self.source} {self.kind}({self.object}) {self.target}"


def anomaly(transactions):
    """Describes an anomaly of a history; None if it is strictly serializable."""
    writers, violation = versions_and_writers(transactions)
    if violation:
        return violation
    committed = [each for each in transactions if each.outcome == DONE or any(
        writers.get(version_key) == each.name for version_key in each.writes.items())]
    edges = list(dependencies(committed, writers))
    cycle = shortest_cycle(edges)
    if not cycle:
        cycle = shortest_cycle(edges + list(real_time(committed)))
    return f"{name_of(cycle)}: {', '.join(map(str, cycle))}" if cycle else None


def versions_and_writers(transactions):
    """The writer of each (object, version), and an anomaly if these already show one."""
    by_name = {each.name: each for each in transactions}
    writers = {}
    for each in transactions:
        if each.outcome != DONE:
            continue
        for version_key in each.writes.items():
            if version_key in writers:
                return writers, (
                    f"lost update: {writers[version_key]} and {each.name} wrote {version_key}")
            writers[version_key] = each.name
    for each in transactions:
        for thing, version, writer in each.seen:
            source = by_name.get(writer)
            if source is None or source.outcome == REFUSED:
                return writers, f"aborted read: {each.name} saw {writer} in {thing}"
            # A transaction of unknown outcome whose write was read has committed all its writes.
            if source.outcome == UNKNOWN:
                for version_key in source.writes.items():
                    writers.setdefault(version_key, writer)
            if writers.get((thing, version)) != writer:
                return writers, (
                    f"forked versions: {each.name} saw {writer} in version {version} of {thing}, "
                    f"which {writers.get((thing, version))} wrote")
    for thing, version in writers:
        if version > 1 and (thing, version - 1) not in writers:
            return writers, f"version {version - 1} of {thing} has no writer"
    return writers, None


def dependencies(transactions, writers):
    for (thing, version), writer in writers.items():
        if (thing, version + 1) in writers:
            yield Edge(writer, "ww", thing, writers[thing, version + 1])
    for each in transactions:
        for thing, version in each.reads.items():
            source, following = writers.get((thing, version)), writers.get((thing, version + 1))
            if source not in (None, each.name):
                yield Edge(source, "wr", thing, each.name)
            if following not in (None, each.name):
                yield Edge(each.name, "rw", thing, following)


def real_time(transactions):
    """Edges for real time, through a node for each end of a transaction: from a transaction to its
    end, from each end to the next one, and from an end to the transactions that begin after it.
    This connects all transactions that do not overlap, with few edges."""
    ends = sorted(
        (each for each in transactions if each.outcome == DONE), key=lambda each: each.ended)
    for index, each in enumerate(ends):
        yield Edge(each.name, "time", "", index)
        if index:
            yield Edge(index - 1, "time", "", index)
    index = -1
    for each in sorted(transactions, key=lambda each: each.began):
        while index + 1 < len(ends) and ends[index + 1].ended < each.began:
            index += 1
        if index >= 0:
            yield Edge(index, "time", "", each.name)


def shortest_cycle(edges):
    """The edges of a short cycle; empty if there is no cycle."""
    leaving = collections.defaultdict(list)
    for edge in edges:
        leaving[edge.source].append(edge)
    for component in components(leaving):
        inside = set(component)
        if len(inside) > 1:
            starts = [node for node in component if isinstance(node, str)][:50]
            cycles = [cycle_through(start, leaving, inside) for start in starts]
            return min(cycles, key=len)
    return []


def components(leaving):
    """Tarjan's strongly connected components, without recursion."""
    index, low, stack, on_stack = {}, {}, [], set()
    for root in list(leaving):
        if root in index:
            continue
        work = [(root, iter(leaving[root]))]
        index[root] = low[root] = len(index)
        stack.append(root)
        on_stack.add(root)
        while work:
            node, remaining = work[-1]
            edge = next(remaining, None)
            if edge is None:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[node])
                if low[node] == index[node]:
                    cut = stack.index(node) if stack[-1] != node else len(stack) - 1
                    component, stack[cut:] = stack[cut:], []
                    on_stack.difference_update(component)
                    yield component
            elif edge.target not in index:
                index[edge.target] = low[edge.target] = len(index)
                stack.append(edge.target)
                on_stack.add(edge.target)
                work.append((edge.target, iter(leaving.get(edge.target, ()))))
            elif edge.target in on_stack:
                low[node] = min(low[node], index[edge.target])


def cycle_through(start, leaving, inside):
    reached_by, queue = {}, collections.deque([start])
    while queue:
        node = queue.popleft()
        for edge in leaving[node]:
            if edge.target == start:
                cycle = [edge]
                while cycle[0].source != start:
                    cycle.insert(0, reached_by[cycle[0].source])
                return cycle
            if edge.target in inside and edge.target not in reached_by:
                reached_by[edge.target] = edge
                queue.append(edge.target)
    raise AssertionError("a component has a cycle through each of its nodes")


def name_of(cycle):
    kinds = [edge.kind for edge in cycle]
    objects = {edge.object for edge in cycle}
    if "time" in kinds:
        return "stale read" if "rw" in kinds else "reordered"
    if kinds.count("rw") >= 2:
        return "write skew or long fork"
    if "rw" in kinds:
        is_lost = len(cycle) == 2 and "ww" in kinds and len(objects) == 1
        return "lost update" if is_lost else "torn read"
    return "circular reads" if "wr" in kinds else "circular writes"
