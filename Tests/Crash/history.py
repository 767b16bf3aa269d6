"""Whether a history of transactions could have come from doing them one after the other.

Each object has versions, numbered from 0, and it is known which version a transaction read and
which it wrote. From that follows who must come before whom; with real time, a transaction that was
answered also comes before each that began later. A cycle means that there is no such order: the
history is not strictly serializable. The names of dependencies and anomalies are Adya's (Weak
Consistency, 1999); nothing here knows Larder.
"""

import collections
import dataclasses

DONE, REFUSED, UNKNOWN = "done", "refused", "unknown"


@dataclasses.dataclass(frozen=True)
class Transaction:
    """What one client did, between two readings of a clock that all clients share."""

    name: str
    began: int
    ended: int
    reads: dict = dataclasses.field(default_factory=dict)  # object: version
    writes: dict = dataclasses.field(default_factory=dict)  # object: version, also if refused
    seen: frozenset = frozenset()  # (object, version, name of its writer), as read
    outcome: str = DONE


class Edge(collections.namedtuple("Edge", "source kind object target")):
    """`kind` is ww (wrote the next version), wr (read what was written), rw (wrote the version
    after the one read), or time."""

    def __str__(self):
        return f"{self.source} {self.kind}({self.object}) {self.target}"


def anomaly(transactions):
    """A sentence about what is wrong with a history; None if it is strictly serializable."""
    writers, fault = versions_and_writers(transactions)
    if fault:
        return fault
    committed = [each for each in transactions if each.outcome == DONE or any(
        writers.get(place) == each.name for place in each.writes.items())]
    edges = list(dependencies(committed, writers))
    cycle = shortest_cycle(edges)
    if not cycle:
        cycle = shortest_cycle(edges + list(real_time(committed)))
    return f"{name_of(cycle)}: {', '.join(map(str, cycle))}" if cycle else None


def versions_and_writers(transactions):
    """Who wrote each (object, version), and what is wrong with that already."""
    by_name = {each.name: each for each in transactions}
    writers = {}
    for each in transactions:
        if each.outcome != DONE:
            continue
        for place in each.writes.items():
            if place in writers:
                return writers, f"lost update: {writers[place]} and {each.name} wrote {place}"
            writers[place] = each.name
    for each in transactions:
        for thing, version, writer in each.seen:
            source = by_name.get(writer)
            if source is None or source.outcome == REFUSED:
                return writers, f"aborted read: {each.name} saw {writer} in {thing}"
            # Whatever became of the answer, a write that was seen has happened, and wholly.
            if source.outcome == UNKNOWN:
                for place in source.writes.items():
                    writers.setdefault(place, writer)
            if writers.get((thing, version)) != writer:
                return writers, (
                    f"forked versions: {each.name} saw {writer} in version {version} of {thing}, "
                    f"which {writers.get((thing, version))} wrote")
    for thing, version in writers:
        if version > 1 and (thing, version - 1) not in writers:
            return writers, f"version {version - 1} of {thing} was written by nobody"
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
    """Edges through moments: an end leads to the moment, a moment to the next and to what begins
    after it. So there are few, and every two transactions apart in time are connected."""
    ends = sorted(
        (each for each in transactions if each.outcome == DONE), key=lambda each: each.ended)
    for place, each in enumerate(ends):
        yield Edge(each.name, "time", "", place)
        if place:
            yield Edge(place - 1, "time", "", place)
    place = -1
    for each in sorted(transactions, key=lambda each: each.began):
        while place + 1 < len(ends) and ends[place + 1].ended < each.began:
            place += 1
        if place >= 0:
            yield Edge(place, "time", "", each.name)


def shortest_cycle(edges):
    """The edges of a short cycle, none if there is none."""
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
    came_by, queue = {}, collections.deque([start])
    while queue:
        node = queue.popleft()
        for edge in leaving[node]:
            if edge.target == start:
                cycle = [edge]
                while cycle[0].source != start:
                    cycle.insert(0, came_by[cycle[0].source])
                return cycle
            if edge.target in inside and edge.target not in came_by:
                came_by[edge.target] = edge
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
