"""The three ways to die: kill -9 at a random time, kill at the Nth operation, and loss of power.

After each death the file is looked at by SQLite alone, the daemon is started anew on the same file,
and every writer compares the store with what it was told; see writer.py.
"""

import math
import time

from daemon import Failed
from site_under_test import Site
from writer import Lost, Wrong

POINTS_A_STORE = 10
KILL_SECONDS_MAX = 0.2
OPERATIONS_MAX = 5_000
SYNC_ERROR_SHARE = 0.25
# More than there are before a new store is served, and an operation after that.
FOLDER_SYNCS = 6
FOLDER_ATTEMPTS = 4
FOLDER_POWER_AT = 150
# As many as there are while a store is created, and a few more.
CREATION_OPERATIONS = 44
# From which sync of the folder on they fail; 0 for none.
CREATION_ERRORS_AT = (0, 1, 2)
# Late enough that saves were acknowledged.
LOSING_OPERATIONS = (200, 1_500)


def operation_number(choice):
    """Small ones are as likely as large ones: the first hit the creation and the recovery."""
    return int(math.exp(choice.uniform(0, math.log(OPERATIONS_MAX))))


def kills(folder, points, seed, choice):
    """SIGKILL at a random 1 to 200 ms after the writers began; then half of the times they first
    repeat what was not answered."""
    with Site(folder, seed, choice) as site:
        for point in range(points):
            if point % POINTS_A_STORE == 0:
                site.begin_store()
            site.check(repeats=choice.random() < 0.5)
            site.begin_writing()
            time.sleep(choice.uniform(0.001, KILL_SECONDS_MAX))
            site.daemon.kill()
            site.end_writing()
            site.daemon.check_file()
        site.check(repeats=True)
    return (
        f"{points} points, {site.acknowledged} saves acknowledged, all there, and {site.repeated} "
        "of unknown outcome repeated, each done once")


def operations(folder, points, seed, choice):
    """SIGKILL at each of the first operations on the file, then at random ones."""
    with Site(folder, seed, choice) as site:
        for point in range(points):
            is_first = point < points // 2
            if is_first or point % POINTS_A_STORE == 0:
                site.begin_store()
            number = point + 1 if is_first else operation_number(choice)
            site.die_at({"seed": choice.getrandbits(32), "kill_at": number})
            site.check()
            site.daemon.kill()
    return (
        f"{points} points, {site.starts_died} before it served, "
        f"{site.acknowledged} saves acknowledged, all there")


def creation(folder, points, seed, choice):
    """Loss of power at each operation that creates a store, where no sync of the folder fails, or
    all do, or all but the first. No random choice: what is found is found each time."""
    with Site(folder, seed, choice) as site:
        for point in range(points):
            operation, errors = divmod(point, len(CREATION_ERRORS_AT))
            site.begin_store()
            site.die_at({
                "seed": point, "power_at": operation % CREATION_OPERATIONS + 1, "kinds": "f",
                "errno": 5, "error_at": CREATION_ERRORS_AT[errors], "forever": 1})
            site.check()
    return f"{points} points, {site.starts_died} before it served, a store after each"


def power(folder, points, seed, choice):
    """Loss of power at a random operation, at times after a sync that failed, and first after each
    sync of the folder that failed while the store was created."""
    with Site(folder, seed, choice) as site:
        for attempt in range(FOLDER_SYNCS * FOLDER_ATTEMPTS):
            site.begin_store()
            site.die_at({
                "seed": attempt, "power_at": FOLDER_POWER_AT, "kinds": "f", "errno": 5,
                "error_at": attempt % FOLDER_SYNCS + 1})
            site.check()
        for point in range(points):
            if point % POINTS_A_STORE == 0:
                site.begin_store()
            site.die_at(power_disk(choice, sync_errors=True))
        site.check()
    return (
        f"{points} points, {site.starts_died} before it served, "
        f"{site.daemon.forgetful_losses} forgot something, "
        f"{site.daemon.checkpoint_losses} during a checkpoint, "
        f"{site.acknowledged} saves acknowledged, all there")


def power_disk(choice, sync_errors=False):
    disk = {"seed": choice.getrandbits(32), "power_at": operation_number(choice)}
    if sync_errors and choice.random() < SYNC_ERROR_SHARE:
        disk |= {"kinds": "sf", "errno": 5, "error_at": operation_number(choice)}
    return disk


def losses_show(folder, points, seed, choice):
    """What `power` looks for is found where it must be: with synchronous=NORMAL, which loses whole
    saves and no more, and on a disk that only says that it syncs."""
    reports = []
    for name, synchronous, lies in (("normal", "normal", 0), ("lying", "full", 1)):
        found = {Lost: 0, Wrong: 0, Failed: 0}
        with Site(folder.with_name(f"{folder.name}-{name}"), seed, choice, synchronous) as site:
            for _ in range(points):
                site.begin_store()
                disk = power_disk(choice) | {"lies": lies}
                disk["power_at"] = choice.randint(*LOSING_OPERATIONS)
                try:
                    site.die_at(disk)
                    site.check()
                except (Lost, Wrong, Failed) as error:
                    found[type(error)] += 1
                    if not lies and type(error) is not Lost:
                        raise
        if not any(found.values()):
            raise Failed(f"{name}: no loss was found, so the test finds none anywhere")
        reports.append(f"{name}: {found[Lost]} losses, {found[Wrong] + found[Failed]} damaged")
    return f"{points} points each, {'; '.join(reports)}"
