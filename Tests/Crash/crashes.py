"""Crashes: SIGKILL at a random time, SIGKILL at the Nth operation on the file, and power loss.

After each crash SQLite alone verifies the file, the daemon is started again on the same file, and
every writer compares the store with the replies that it received; see writer.py.
"""

import math
import time

from daemon import Failed
from site_under_test import Site
from writer import Lost, Wrong

POINTS_PER_STORE = 10
KILL_SECONDS_MAX = 0.2
OPERATIONS_MAX = 5_000
SYNC_ERROR_SHARE = 0.25
# More syncs of the folder than a new store needs before it is served, and an operation after that.
FOLDER_SYNCS = 6
FOLDER_ATTEMPTS = 4
FOLDER_POWER_AT = 150
# The number of operations that create a store, and a few more.
CREATION_OPERATIONS = 44
# The sync of the folder from which on syncs fail; 0 if none fails.
CREATION_ERRORS_AT = (0, 1, 2)
# Late enough that saves have been acknowledged.
LOSING_OPERATIONS = (200, 1_500)


def operation_number(choice):
    """A random operation number; small ones, which hit creation and recovery, are as likely as
    large ones."""
    return int(math.exp(choice.uniform(0, math.log(OPERATIONS_MAX))))


def kills(folder, points, seed, choice):
    """SIGKILL 1 to 200 ms after the writers began; then, in half of the cases, they first repeat
    the change sets that had no reply."""
    with Site(folder, seed, choice) as site:
        for point in range(points):
            if point % POINTS_PER_STORE == 0:
                site.begin_store()
            site.check(repeats=choice.random() < 0.5)
            site.begin_writing()
            time.sleep(choice.uniform(0.001, KILL_SECONDS_MAX))
            site.daemon.kill()
            site.end_writing()
            site.daemon.check_file()
        site.check(repeats=True)
    return (
        f"{points} points, {site.acknowledged} saves acknowledged, all present, and "
        f"{site.repeated} with unknown outcome repeated, each applied once")


def operations(folder, points, seed, choice):
    """SIGKILL at each of the first operations on the file, then at random ones."""
    with Site(folder, seed, choice) as site:
        for point in range(points):
            is_first = point < points // 2
            if is_first or point % POINTS_PER_STORE == 0:
                site.begin_store()
            number = point + 1 if is_first else operation_number(choice)
            site.crash_at({"seed": choice.getrandbits(32), "kill_at": number})
            site.check()
            site.daemon.kill()
    return (
        f"{points} points, {site.failed_starts} before it was ready, "
        f"{site.acknowledged} saves acknowledged, all present")


def creation(folder, points, seed, choice):
    """Power loss at each operation that creates a store, if no sync of the folder fails, if all
    fail, or if all but the first fail. It makes no random choices, so results are reproducible."""
    with Site(folder, seed, choice) as site:
        for point in range(points):
            operation, errors = divmod(point, len(CREATION_ERRORS_AT))
            site.begin_store()
            site.crash_at({
                "seed": point, "power_at": operation % CREATION_OPERATIONS + 1, "kinds": "f",
                "errno": 5, "error_at": CREATION_ERRORS_AT[errors], "forever": 1})
            site.check()
    return f"{points} points, {site.failed_starts} before it was ready, a store after each"


def power(folder, points, seed, choice):
    """Power loss after each failed sync of the folder while the store is created, then at random
    operations, in some cases after a failed sync."""
    with Site(folder, seed, choice) as site:
        for attempt in range(FOLDER_SYNCS * FOLDER_ATTEMPTS):
            site.begin_store()
            site.crash_at({
                "seed": attempt, "power_at": FOLDER_POWER_AT, "kinds": "f", "errno": 5,
                "error_at": attempt % FOLDER_SYNCS + 1})
            site.check()
        for point in range(points):
            if point % POINTS_PER_STORE == 0:
                site.begin_store()
            site.crash_at(power_disk(choice, sync_errors=True))
        site.check()
    return (
        f"{points} points, {site.failed_starts} before it was ready, "
        f"{site.daemon.losses_with_data} lost data that was not synced, "
        f"{site.daemon.checkpoint_losses} during a checkpoint, "
        f"{site.acknowledged} saves acknowledged, all present")


def power_disk(choice, sync_errors=False):
    disk = {"seed": choice.getrandbits(32), "power_at": operation_number(choice)}
    if sync_errors and choice.random() < SYNC_ERROR_SHARE:
        disk |= {"kinds": "sf", "errno": 5, "error_at": operation_number(choice)}
    return disk


def losses_show(folder, points, seed, choice):
    """The checks of `power` must find losses with synchronous=NORMAL, which may lose whole saves
    and nothing else, and on a disk that acknowledges syncs without doing them."""
    reports = []
    for name, synchronous, lies in (("normal", "normal", 0), ("without syncs", "full", 1)):
        found = {Lost: 0, Wrong: 0, Failed: 0}
        own_folder = folder.with_name(f"{folder.name}-{synchronous}")
        with Site(own_folder, seed, choice, synchronous) as site:
            for _ in range(points):
                site.begin_store()
                disk = power_disk(choice) | {"lies": lies}
                disk["power_at"] = choice.randint(*LOSING_OPERATIONS)
                try:
                    site.crash_at(disk)
                    site.check()
                except (Lost, Wrong, Failed) as error:
                    found[type(error)] += 1
                    if not lies and type(error) is not Lost:
                        raise
        if not any(found.values()):
            raise Failed(f"{name}: no loss was found, so the test would not find one elsewhere")
        reports.append(f"{name}: {found[Lost]} losses, {found[Wrong] + found[Failed]} damaged")
    return f"{points} points each, {'; '.join(reports)}"
