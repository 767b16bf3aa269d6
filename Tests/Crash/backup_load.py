"""What a backup costs the writers: the durations of durable inserts by sixteen clients, with and
without a backup, the time that it takes, and the greatest length of the log."""

import multiprocessing
import os
import subprocess
import time

from daemon import Daemon, Failed
from raw_client import Client, values

WRITERS = 16
CHUNK_ROWS = 5_000
WARM_SECONDS = 2
# The inserts of this time are compared: before the backup, and as long as backups are made.
PHASE_SECONDS = 15
POLL_SECONDS = 0.01


def write(path, number, pipe, stops):
    """Inserts one object after the other; sends the start and the duration of each."""
    client = Client(path, name=f"writer {number}")
    times, sent = [], 0
    while not stops.is_set():
        sent += 1
        register = values.Identifier(entity="Register", temporary_name="r")
        change = client.change(
            "INSERT", register, {"number": (number + 1) << 32 | sent, "elements": "x" * 40})
        start = time.monotonic()
        client.save(change)
        times.append((start, time.monotonic() - start))
    pipe.send(times)


def percentile(durations, share):
    return sorted(durations)[int(len(durations) * share)]


def summary(durations):
    middle, late = percentile(durations, 0.5), percentile(durations, 0.99)
    return f"{len(durations)} inserts, p50 {middle * 1e3:.1f} ms, p99 {late * 1e3:.1f} ms"


def fill(daemon, count):
    client = Client(daemon.socket, name="filler")
    for start in range(0, count, 100_000):
        numbers = range(start, min(start + 100_000, count))
        client.insert_rows("Tag", {
            "writer": ("INT64", [number % 97 for number in numbers]),
            "name": ("STRING", [f"object {number} with some text" for number in numbers])})
    client.close()


def log_bytes(daemon):
    log = daemon.folder / "test.store-wal"
    return log.stat().st_size if log.exists() else 0


def back_up(daemon, file):
    """Makes one backup; returns its time, and the greatest length of the log meanwhile."""
    program = os.path.join(os.environ["LARDER_BIN_DIR"], "larder")
    start, longest = time.monotonic(), 0
    process = subprocess.Popen(
        [program, "backup", "--socket", daemon.socket, "--timeout", "10m", str(file)],
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    while process.poll() is None:
        longest = max(longest, log_bytes(daemon))
        time.sleep(POLL_SECONDS)
    if process.returncode != 0:
        raise Failed(f"larder backup: {process.stderr.read()}")
    file.unlink()
    return time.monotonic() - start, longest


def load(folder, count, seed, choice):
    folder.mkdir(parents=True)
    daemon = Daemon(folder)
    if not daemon.start():
        raise Failed(f"larderd did not start: {daemon.last_log_lines()}")
    context = multiprocessing.get_context("fork")
    stops, writers = context.Event(), []
    try:
        fill(daemon, count)
        alone, _ = back_up(daemon, folder / "alone")
        for number in range(WRITERS):
            ours, theirs = context.Pipe()
            process = context.Process(
                target=write, args=(daemon.socket, number, theirs, stops), daemon=True)
            process.start()
            writers.append((process, ours))
        time.sleep(WARM_SECONDS)
        begin = time.monotonic()
        time.sleep(PHASE_SECONDS)
        middle, seconds, longest = time.monotonic(), [], 0
        while time.monotonic() - middle < PHASE_SECONDS:
            taken, length = back_up(daemon, folder / "loaded")
            seconds.append(taken)
            longest = max(longest, length)
        end = time.monotonic()
        stops.set()
        times = [each for _, pipe in writers for each in pipe.recv()]
        size = daemon.store.stat().st_size
    finally:
        stops.set()
        for process, _ in writers:
            process.terminate()
            process.join()
        daemon.kill()
    before = [taken for start, taken in times if begin <= start < middle]
    during = [taken for start, taken in times if middle <= start < end]
    ratio = percentile(during, 0.99) / percentile(before, 0.99)
    return (
        f"{count} objects, {size >> 20} MiB: {alone:.1f} s alone, {max(seconds):.1f} s under load "
        f"({len(seconds)} backups); without: {summary(before)}; with: {summary(during)}, "
        f"ratio of p99 {ratio:.2f}; the log had up to {longest >> 20} MiB")
