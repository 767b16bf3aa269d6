"""A disk that answers EIO or ENOSPC, once or from then on, at a random operation.

Whatever fails, no answer is wrong: saves are refused with a storage error, reads go on and show
what was acknowledged, one error is got over without a restart, and a restart on a sound disk serves
all that was acknowledged.
"""

import errno

from daemon import STORAGE_STATUS, Failed
from site_under_test import Site
from writer import Refused, Wrong

POINTS_A_STORE = 10
OPERATIONS_MAX = 400
SAVES = 40
KINDS = {"writes": "w", "syncs": "sf", "truncates and removals": "tu", "all": "wsftu", "reads": "r"}


def errors(folder, points, seed, choice):
    counts = {"refused starts": 0, "refused saves": 0, "none refused": 0, "no error": 0}
    with Site(folder, seed, choice) as site:
        for point in range(points):
            if point % POINTS_A_STORE == 0:
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
    met = ", ".join(f"{count} with {what}" for what, count in counts.items())
    return f"{points} points, {met}, {site.acknowledged} saves acknowledged, all there"


def one_point(site, disk):
    daemon = site.daemon
    if not daemon.start(disk):
        if daemon.wait() != STORAGE_STATUS:
            raise Failed(f"a start was not refused in order: {daemon.last_words()}")
        return "refused starts"
    may_refuse_reads = disk["kinds"] == "r"
    look(site, may_refuse_reads, after_crash=True)
    refusals = write(site)
    if not refusals and not daemon.met_error():
        end(site)
        return "no error"
    look(site, may_refuse_reads, after_crash=False)
    again = write(site)
    # A read that fails is damage to SQLite, and then saves wait for a restart; see docs/testing.md.
    if not disk["forever"] and disk["kinds"] != "r" and again:
        raise Failed(f"one error was not got over: saves are refused with {again}")
    if disk["forever"] and disk["kinds"] in ("w", "sf", "wsftu") and not again:
        raise Failed("saves were acknowledged on a disk that fails for good")
    look(site, may_refuse_reads, after_crash=False)
    end(site)
    return "refused saves" if refusals or again else "none refused"


def look(site, may_refuse, after_crash):
    """Compares what reads answer with what was acknowledged; refused saves must not show."""
    try:
        site.look(after_crash)
    except Refused:
        if not may_refuse:
            raise


def write(site):
    """A few saves of each writer, and the texts of the refusals."""
    answers = site.team.all("write", site.daemon.socket, 1, SAVES)
    site.acknowledged += sum(acknowledged for acknowledged, _ in answers)
    if site.daemon.process.poll() is not None:
        raise Failed(f"larderd ended: {site.daemon.last_words()}")
    return {refusal for _, refusal in answers if refusal}


def end(site):
    """In order or not: the next start finds what it must either way."""
    if site.choice.random() < 0.5:
        site.daemon.stop()
    else:
        site.daemon.kill()
