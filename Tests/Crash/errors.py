"""A disk that fails with EIO or ENOSPC at a random operation, once or from then on.

No reply may be wrong: saves fail with a storage error, reads continue and return what was
acknowledged, the daemon recovers from a single error without a restart, and a restart on a working
disk serves everything that was acknowledged.
"""

import errno

from daemon import STORAGE_STATUS, Failed
from site_under_test import Site
from writer import Refused, Wrong

POINTS_PER_STORE = 10
OPERATIONS_MAX = 400
SAVES = 40
KINDS = {"writes": "w", "syncs": "sf", "truncates and removals": "tu", "all": "wsftu", "reads": "r"}


def errors(folder, points, seed, choice):
    counts = {"refused starts": 0, "refused saves": 0, "none refused": 0, "no error": 0}
    with Site(folder, seed, choice) as site:
        for point in range(points):
            if point % POINTS_PER_STORE == 0:
                site.begin_store()
            disk = {
                "seed": choice.getrandbits(32), "kinds": choice.choice(list(KINDS.values())),
                "errno": choice.choice([errno.EIO, errno.ENOSPC]),
                "error_at": choice.randrange(1, OPERATIONS_MAX),
                "forever": int(choice.random() < 0.5)}
            try:
                counts[one_point(site, disk)] += 1
                site.check()
            except (Failed, Wrong, Refused) as error:
                raise Failed(f"{disk}: {type(error).__name__}: {error}") from None
            site.daemon.kill()
            site.daemon.check_file()
    outcomes = ", ".join(f"{count} with {name}" for name, count in counts.items())
    return f"{points} points, {outcomes}, {site.acknowledged} saves acknowledged, all present"


def one_point(site, disk):
    daemon = site.daemon
    if not daemon.start(disk):
        if daemon.wait() != STORAGE_STATUS:
            raise Failed(
                f"a failed start did not end with {STORAGE_STATUS}: {daemon.last_log_lines()}")
        return "refused starts"
    may_refuse_reads = disk["kinds"] == "r"
    verify(site, may_refuse_reads, after_crash=True)
    refusals = write(site)
    if not refusals and not daemon.has_disk_error():
        end(site)
        return "no error"
    verify(site, may_refuse_reads, after_crash=False)
    again = write(site)
    # SQLite treats a failed read as damage, so saves fail until a restart; see docs/testing.md.
    if not disk["forever"] and disk["kinds"] != "r" and again:
        raise Failed(f"no recovery from one error: saves fail with {again}")
    if disk["forever"] and disk["kinds"] in ("w", "sf", "wsftu") and not again:
        raise Failed("saves were acknowledged on a disk that always fails")
    verify(site, may_refuse_reads, after_crash=False)
    end(site)
    return "refused saves" if refusals or again else "none refused"


def verify(site, may_refuse, after_crash):
    """Compares what reads return with what was acknowledged; refused saves must not be visible."""
    try:
        site.verify(after_crash)
    except Refused:
        if not may_refuse:
            raise


def write(site):
    """Makes a few saves with each writer; returns the error texts of refused saves."""
    answers = site.team.all("write", site.daemon.socket, 1, SAVES)
    site.acknowledged += sum(acknowledged for acknowledged, _ in answers)
    if site.daemon.process.poll() is not None:
        raise Failed(f"larderd ended: {site.daemon.last_log_lines()}")
    return {refusal for _, refusal in answers if refusal}


def end(site):
    """Ends the daemon with SIGTERM or SIGKILL; the next start must serve the same either way."""
    if site.choice.random() < 0.5:
        site.daemon.stop()
    else:
        site.daemon.kill()
