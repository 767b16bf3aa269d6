"""One scenario: its two phases, what is measured in each, and the limits that it is judged by."""

import dataclasses
import pathlib
import shutil
import subprocess
import time
from collections.abc import Callable
from typing import Any

import honest
from attack import Attack, Outcome, Target
from honest import Measure
from processes import (
    ATTACKER_NICE, ATTACKER_USER, HONEST_USER, MONITOR_USER, SERVER_USER, Child)
from server import WATCHDOG_SECONDS, Server, copy_store

MIB = 1 << 20
RATIO_MAX = 3.0
# A short request's p99 depends on how the kernel schedules: it passes through up to three threads,
# each of which waits for a time slice of up to 4 ms if the processors are busy.
FLOOR_SECONDS = 0.012
# The issue limits only errors of long reads; these limits find starvation.
LONG_READ_RATIO_MAX = 10.0
LONG_READ_FLOOR_SECONDS = 2.0
# The short form runs next to other tests.
QUICK_FLOOR_SECONDS = 1.0
QUICK_REPEATS_MAX = 2
MEMORY_MAX = 256 * MIB
LOG_MAX = 128 * MIB
HOLD_MAX_SECONDS = 0.020
QUICK_HOLD_MAX_SECONDS = 0.5
BEAT_SLACK_SECONDS = 2.0
# How late a reply may be after the time limit of its request.
LATE_MAX_SECONDS = 0.2
SMALL_DISK_BYTES = 256 * MIB
RESULT_SECONDS = 30.0
# The server interrupts what runs after 5 s.
STOP_SECONDS_MAX = 8.0


@dataclasses.dataclass(frozen=True)
class Scenario:
    """An attack and what is particular about measuring it."""

    name: str
    item: int
    summary: str
    # Each runs in a process of its own, all under one user.
    attacks: tuple[Attack, ...]
    # What the server's own user does to it meanwhile.
    helpers: tuple[Attack, ...] = ()
    # Called before the attack, so that building large frames takes no time of it.
    prepare: tuple[Callable[[], Any], ...] = ()
    seconds: float = 8.0
    quick_seconds: float = 1.2
    # The time for the attackers to end after the measures.
    result_seconds: float = 2.0
    reads: Callable = honest.reads
    saves: Callable = honest.saves
    long_reads: Callable = honest.long_reads
    # Clients whose p99 is not compared, each with the reason.
    not_compared: dict[str, str] = dataclasses.field(default_factory=dict)
    # How much longer the p99 of reads and saves may be than without the attack. The short form
    # judges only the usual one.
    ratio_max: float = RATIO_MAX
    # The user of the attackers.
    user: int = ATTACKER_USER
    # Whether the attack must delay reads or saves by more than this ratio: it shows that a scenario
    # with the same attack by another user measures something. The short form does not judge it.
    is_control: bool = False
    # Whether a held event loop fails the scenario.
    judges_hold: bool = False
    # The monitor speaks Larder's protocol only.
    has_monitor: bool = True
    is_on_small_disk: bool = False
    stalls_disk: bool = False
    beat_slack_seconds: float = BEAT_SLACK_SECONDS
    # The time for SIGTERM to end the server during the attack; None to kill it afterwards.
    stop_seconds_max: float | None = None


@dataclasses.dataclass(frozen=True)
class Settings:
    """What all scenarios of a run share."""

    programs: pathlib.Path
    scratch: pathlib.Path
    store: pathlib.Path
    items: int
    quick: bool
    disk_library: str

    @property
    def quiet_seconds(self) -> float:
        return 0.6 if self.quick else 4.0

    @property
    def lead_seconds(self) -> float:
        """The time for which an attack runs before the honest clients are measured again."""
        return 0.2 if self.quick else 1.0


@dataclasses.dataclass
class Phase:
    """What the clients saw in one phase."""

    clients: dict[str, Measure]
    # The delays of the disk itself, without the server.
    disk: Measure = dataclasses.field(default_factory=Measure)
    # Those of the processors: of an exchange between two processes.
    echo: Measure = dataclasses.field(default_factory=Measure)
    hold: float = 0.0
    # Each long hold with the time at which it ended.
    holds: list[tuple[float, float]] = dataclasses.field(default_factory=list)


@dataclasses.dataclass
class Result:
    """The measures of a scenario, and the reasons for which it fails."""

    scenario: str
    alone: Phase
    attack: Phase
    memory: int = 0
    anonymous_memory: int = 0
    log: int = 0
    pause: float = 0.0
    # The seconds from SIGTERM to the end, if they were measured.
    stop: float | None = None
    attackers: Outcome = dataclasses.field(default_factory=Outcome)
    slowest: list[tuple[str, float]] = dataclasses.field(default_factory=list)
    # Why the scenario fails, except for times.
    reasons: list[str] = dataclasses.field(default_factory=list)
    # The times that exceed their limits, which may be due to the machine.
    delays: list[str] = dataclasses.field(default_factory=list)

    @property
    def failures(self) -> list[str]:
        return self.reasons + self.delays


def run(scenario: Scenario, settings: Settings) -> Result:
    """Runs a scenario against Larder.

    The short form runs where a machine may pause for longer than a phase, so it measures a
    scenario that only times fail up to three times.
    """
    def serve(folder: pathlib.Path) -> Server:
        copy_store(settings.store, folder)
        environment = {
            "LD_PRELOAD": settings.disk_library, "LARDER_DISK_STORE": str(folder / "siege.store"),
            "LARDER_DISK_STALL": str(folder / "stall")} if scenario.stalls_disk else {}
        return Server(settings.programs, folder, environment)
    for _ in range(QUICK_REPEATS_MAX if settings.quick else 0):
        result = run_with(serve, scenario, settings)
        if result.reasons or not result.delays:
            return result
    return run_with(serve, scenario, settings)


def run_with(
    serve: Callable[[pathlib.Path], Any], scenario: Scenario, settings: Settings
) -> Result:
    """Runs both phases on one server."""
    for build in scenario.prepare:
        build()
    folder = settings.scratch / scenario.name
    folder.mkdir()
    folder.chmod(0o755)
    if scenario.is_on_small_disk:
        subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={SMALL_DISK_BYTES},mode=0755",
                        "siege", folder], check=True)
    try:
        with serve(folder) as server:
            return phases(scenario, settings, server)
    finally:
        if scenario.is_on_small_disk:
            subprocess.run(["umount", "--lazy", folder], check=False)
        shutil.rmtree(folder, ignore_errors=True)


def phases(scenario: Scenario, settings: Settings, server: Any) -> Result:
    now = time.monotonic()
    alone = measure(scenario, settings, server, now + settings.quiet_seconds)
    began = time.monotonic()
    seconds = scenario.quick_seconds if settings.quick else scenario.seconds
    until = began + settings.lead_seconds + seconds
    target = Target(server.socket, until, settings.items, settings.quick)
    children = [
        Child(attack, target, user=scenario.user, nice=ATTACKER_NICE)
        for attack in scenario.attacks]
    children += [Child(helper, target, user=SERVER_USER) for helper in scenario.helpers]
    try:
        time.sleep(settings.lead_seconds)
        attack = measure(scenario, settings, server, until)
        ended = time.monotonic()
        outcomes = [child.result(scenario.result_seconds) for child in children]
        was_alive = server.is_alive
        if scenario.stop_seconds_max:
            stopped = server.stop_seconds(scenario.stop_seconds_max)
    finally:
        for child in children:
            child.kill()
    result = Result(
        scenario.name, alone, attack, server.memory_peak, server.anonymous_peak, server.log_peak,
        server.longest_pause(began, ended))
    if scenario.stop_seconds_max:
        result.stop = stopped
        if stopped is None:
            result.reasons.append(f"SIGTERM took more than {scenario.stop_seconds_max:.0f} s")
    if not was_alive:
        result.reasons.append(f"the server ended: {server.last_log_lines()}")
    for outcome in outcomes:
        if outcome:
            result.attackers.add(outcome)
    result.reasons += result.attackers.wrong
    result.slowest = attribute(attack.holds, result.attackers)
    judge(scenario, settings, result)
    return result


def measure(scenario: Scenario, settings: Settings, server: Any, until: float) -> Phase:
    """Runs the honest clients and the monitor for a while."""
    functions = {
        "reads": scenario.reads, "saves": scenario.saves, "long reads": scenario.long_reads}
    clients = {
        name: Child(function, server.socket, until, settings.items, user=HONEST_USER)
        for name, function in functions.items()}
    monitor = Child(
        honest.monitor, server.socket, until, user=MONITOR_USER, realtime=True
    ) if scenario.has_monitor else None
    disk = Child(honest.disk, server.folder, until, user=SERVER_USER)
    echo = Child(honest.echo, until, user=HONEST_USER)
    try:
        deadline = until + RESULT_SECONDS
        measures = {
            name: child.result(deadline - time.monotonic()) or Measure(errors=["no end"])
            for name, child in clients.items()}
        phase = Phase(
            measures, disk.result(deadline - time.monotonic()) or Measure(),
            echo.result(deadline - time.monotonic()) or Measure())
        phase.holds = monitor and monitor.result(deadline - time.monotonic()) or []
        phase.hold = max((gap for _, gap in phase.holds), default=0.0)
        return phase
    finally:
        for child in [*clients.values(), disk, echo, *([monitor] if monitor else [])]:
            child.kill()


def attribute(holds: list[tuple[float, float]], attackers: Outcome) -> list[tuple[str, float]]:
    """The kinds of frames during which the loops were held the longest."""
    longest: dict[str, float] = {}
    for moment, gap in holds:
        during = [(began, kind) for kind, began, _ in attackers.requests if began <= moment]
        if during and gap > HOLD_MAX_SECONDS:
            kind = max(during)[1]
            longest[kind] = max(longest.get(kind, 0.0), gap)
    return sorted(longest.items(), key=lambda each: -each[1])


def judge(scenario: Scenario, settings: Settings, result: Result) -> None:
    """Adds a reason for each limit that is exceeded."""
    reasons = result.reasons
    floor = QUICK_FLOOR_SECONDS if settings.quick else FLOOR_SECONDS
    long_floor = max(floor, LONG_READ_FLOOR_SECONDS)
    limits = {"reads": (scenario.ratio_max, floor), "saves": (scenario.ratio_max, floor),
              "long reads": (LONG_READ_RATIO_MAX, long_floor)}
    if scenario.is_control:
        judge_control(scenario, settings, result)
        return
    for name, (ratio, least) in limits.items():
        alone, attacked = result.alone.clients[name], result.attack.clients[name]
        errors = len(attacked.errors)
        if errors:
            reasons.append(
                f"{errors} of {attacked.requests} {name} failed: {attacked.errors[0][:70]}")
        if alone.errors:
            reasons.append(f"{name} failed without an attack: {alone.errors[0][:70]}")
        if name in scenario.not_compared or (
                settings.quick and scenario.ratio_max != RATIO_MAX):
            continue
        # Saves wait for the disk, which may itself be slower in this phase, and reads wait for the
        # processors, on which the attackers run too.
        machine = {"saves": result.attack.disk.p99, "reads": result.attack.echo.p99}
        usual = max(alone.p99, machine.get(name, 0.0))
        if not attacked.p99 <= max(ratio * usual, least):
            result.delays.append(f"p99 of {name} {milliseconds(attacked.p99)}")
    if scenario.saves is honest.limited_saves:
        latest = max(result.attack.clients["saves"].times, default=0.0)
        if latest > honest.LIMIT_SECONDS + max(LATE_MAX_SECONDS, floor):
            result.delays.append(f"a reply within {milliseconds(honest.LIMIT_SECONDS)} came after "
                                 f"{milliseconds(latest)}")
    if result.memory > MEMORY_MAX:
        reasons.append(f"memory {result.memory // MIB} MiB")
    if result.log > LOG_MAX:
        reasons.append(f"log {result.log // MIB} MiB")
    # What the machine itself delays in the quiet phase is allowed in addition.
    hold_max = (QUICK_HOLD_MAX_SECONDS if settings.quick else HOLD_MAX_SECONDS) + result.alone.hold
    if scenario.judges_hold and result.attack.hold > hold_max:
        worst = f" ({result.slowest[0][0]})" if result.slowest else ""
        result.delays.append(f"a loop was held for {milliseconds(result.attack.hold)}{worst}")
    if result.pause > WATCHDOG_SECONDS / 2 + scenario.beat_slack_seconds:
        result.delays.append(f"no watchdog beat for {result.pause:.1f} s")


def judge_control(scenario: Scenario, settings: Settings, result: Result) -> None:
    """Adds a reason if the attack is not noticed."""
    ratios = {name: result.attack.clients[name].p99 / max(result.alone.clients[name].p99, 1e-6)
              for name in ("reads", "saves")}
    if not settings.quick and max(ratios.values()) <= scenario.ratio_max:
        result.reasons.append(f"the control shows no delay: {ratios}")


def milliseconds(seconds: float) -> str:
    """A time in three digits."""
    return f"{seconds:.1f} s" if seconds >= 1 else f"{seconds * 1_000:.3g} ms"
