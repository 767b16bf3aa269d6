"""The table of results, and the same as JSON."""

from typing import Any

from honest import Measure
from scenario import MIB, Phase, Result, milliseconds

KINDS = ("reads", "saves", "long reads")
COLUMNS = ("scenario", *(f"{kind} p99" for kind in KINDS), "disk p99", "echo p99", "errors",
           "memory", "log", "loop hold", "beats", "result")
WIDTHS = (18, 26, 26, 26, 20, 20, 6, 8, 8, 20, 5)


def heading() -> str:
    return line(COLUMNS)


def line(cells: tuple[str, ...]) -> str:
    padded = [cell.ljust(width) for cell, width in zip(cells, WIDTHS)]
    return "  ".join([*padded, *cells[len(WIDTHS):]])


def row(result: Result) -> str:
    """A line of the table; `alone -> under attack (ratio)` in milliseconds."""
    alone, attack = measures(result.alone), measures(result.attack)
    errors = sum(len(each.errors) for each in attack.values())
    verdict = "FAIL: " + "; ".join(result.failures) if result.failures else "ok"
    pause = f"{result.pause:.1f} s" if result.pause else "-"
    return line((
        result.scenario, *(comparison(alone[kind], attack[kind]) for kind in KINDS),
        change(result.alone.disk.p99, result.attack.disk.p99),
        change(result.alone.echo.p99, result.attack.echo.p99),
        str(errors), f"{result.memory // MIB} MiB", f"{result.log // MIB} MiB",
        change(result.alone.hold, result.attack.hold), pause, verdict))


def measures(phase: Phase) -> dict[str, Measure]:
    """The measure of each kind; an empty one if the scenario did not run to its end."""
    return {kind: phase.clients.get(kind, Measure()) for kind in KINDS}


def comparison(alone: Measure, attack: Measure) -> str:
    if not alone.times or not attack.times:
        return "-"
    return f"{change(alone.p99, attack.p99)} ({attack.p99 / alone.p99:.3g}x)"


def change(alone: float, attack: float) -> str:
    """A time alone and under attack; a time of 0 was not measured."""
    return f"{milliseconds(alone)} → {milliseconds(attack)}" if alone and attack else "-"


def markdown(result: Result) -> str:
    """A row of the table in docs/siege.md."""
    alone, attack = measures(result.alone), measures(result.attack)
    cells = [f"`{result.scenario}`"]
    cells += [change(alone[kind].p99, attack[kind].p99) for kind in KINDS]
    cells += [change(result.alone.disk.p99, result.attack.disk.p99),
              change(result.alone.echo.p99, result.attack.echo.p99),
              str(sum(len(each.errors) for each in attack.values())),
              f"{result.memory // MIB}", f"{result.log // MIB}",
              change(result.alone.hold, result.attack.hold),
              f"{result.pause:.1f} s" if result.pause else "-",
              "FAIL" if result.failures else "ok"]
    return "| " + " | ".join(cells) + " |"


def as_json(result: Result) -> dict[str, Any]:
    def phase(part: Any) -> dict[str, Any]:
        return {"hold": part.hold, "disk": part.disk.summary(), "echo": part.echo.summary(),
                "clients": {name: each.summary() for name, each in part.clients.items()}}
    return {
        "scenario": result.scenario, "ok": not result.failures, "reasons": result.failures,
        "alone": phase(result.alone), "attack": phase(result.attack),
        "memory": result.memory, "anonymous_memory": result.anonymous_memory, "log": result.log,
        "longest_beat_pause": result.pause, "stop_seconds": result.stop, "attacker_replies": result.attackers.replies,
        "refusals": result.attackers.refusals,
        "holds_by_kind": result.slowest[:40]}
