"""All scenarios against Larder, in the order of the items that they belong to."""

import honest
from answer_attacks import large_answers, long_work
from attack import hold_readers, hold_writer
from lifetime_attacks import abandoned_observers, migrations
from log_attacks import replace_texts, staggered_streams
from loop_attacks import (
    STALL_SECONDS, decimal_frames, decimals, folded, folded_frames, json_frames, json_save,
    large_frames, stall, stalled_disk)
from memory_attacks import (
    large_query, large_save, plans, waiting_dots, waiting_queries, waiting_saves)
from operator_attacks import (
    PROCESSES, ended_queries, ends, everything, operator, reports, scrapes, witness)
from processes import HONEST_USER
from scenario import BEAT_SLACK_SECONDS, STOP_SECONDS_MAX, Scenario
from share_attacks import (
    atomic_streams, frames_for_loop, full_write_queue, held_streams, keyed_saves, large_saves,
    object_followers, observers, parts, saves_in_parts, short_frames, short_reads,
    silent_handshakes, spool, stopped_followers, unknown_names)

SCENARIOS = [
    Scenario("folded", 1, "a text of 1 MB folded by 1, 10 and 40 comparisons",
             (folded,), prepare=(folded_frames,), judges_hold=True),
    Scenario("decimals", 1, "3.9 MB of decimals as text",
             (decimals,), prepare=(decimal_frames,), judges_hold=True),
    Scenario("json-save", 1, "saves of JSON documents of 15 MiB",
             (json_save,), prepare=(json_frames,), judges_hold=True),
    Scenario("large-frames", 1, "frames of 16 MiB of every kind, also malformed",
             (large_frames,), seconds=25.0, quick_seconds=3.0, judges_hold=True),
    Scenario("stalled-disk", 1, "a disk that stalls for 3 s during a save",
             (stalled_disk,), helpers=(stall,), seconds=12.0, quick_seconds=5.0,
             judges_hold=True, stalls_disk=True,
             beat_slack_seconds=BEAT_SLACK_SECONDS + STALL_SECONDS,
             not_compared={"saves": "they wait for the disk"}),
    Scenario("large-answers", 2, "249,000 inserts in one set, and more than a set may have",
             (large_answers,), seconds=25.0, quick_seconds=3.0, result_seconds=60.0,
             not_compared={"saves": "such a set is one transaction"}),
    Scenario("watchdog", 3, "a long change, atomic streams and a folded text at once",
             (long_work,), seconds=40.0,
             not_compared={"saves": "see long-writes"}),
    Scenario("waiting-queries", 4, "queries of 15 MiB that wait for a reader",
             (hold_readers, waiting_queries), prepare=(large_query,)),
    Scenario("waiting-saves", 4, "130 MiB of saves that wait for the writer",
             (hold_writer, waiting_saves), prepare=(waiting_dots,), seconds=12.0),
    Scenario("plans", 4, "queries of 1,000 SEARCH and of 800 comparisons, all different",
             (plans,), judges_hold=True),
    Scenario("staggered-streams", 5, "slow streams opened one after the other during large writes",
             (staggered_streams, replace_texts), seconds=15.0, quick_seconds=2.0),
    Scenario("silent-handshakes", 6, "240 connections without a hello",
             (silent_handshakes,), reads=honest.connects),
    Scenario("held-streams", 6, "32 streams that are never read to their end",
             (held_streams,)),
    Scenario("slow-queriers", 6, "16 queries that compute for long, without a result",
             (hold_readers,)),
    Scenario("short-reads", 6, "64 connections with 31 short queries each at once",
             (short_reads,), judges_hold=True),
    Scenario("unknown-names", 6, "queries with names that nothing has, 20 at once",
             (unknown_names,), judges_hold=True),
    Scenario("short-frames", 6, "48 connections with frames as long as an event loop decodes",
             (frames_for_loop,), prepare=(short_frames,), judges_hold=True),
    Scenario("stopped-followers", 6, "1,920 streams that follow the history and are not read",
             (stopped_followers,), judges_hold=True),
    Scenario("observers", 6, "960 different live queries that each save concerns",
             (observers,), judges_hold=True),
    Scenario("object-followers", 6, "960 streams of objects by predicate that each save concerns",
             (object_followers,), judges_hold=True),
    Scenario("full-write-queue", 6, "4,000 saves that wait for the writer",
             (hold_writer, full_write_queue)),
    Scenario("keyed-saves", 6, "64 connections with 31 saves each at once, with keys",
             (keyed_saves,), saves=honest.keyed_saves),
    Scenario("long-writes", 6, "changes by predicate and large saves, one after the other",
             (hold_writer, large_saves), prepare=(large_save,)),
    Scenario("atomic-streams", 6, "180 atomic streams that never end",
             (atomic_streams,), saves=honest.atomic_saves),
    Scenario("saves-in-parts", 6, "saves of 300,000 inserts in parts, one after the other",
             (saves_in_parts,), prepare=(parts,)),
    Scenario("spool", 6, "rows of atomic streams until the disk is full",
             (spool, spool), is_on_small_disk=True),
    Scenario("metrics-and-ends", 6,
             "metrics, activity and statistics in a loop, and ends of all requests of others",
             (scrapes, reports, ends, ended_queries), helpers=(operator,), judges_hold=True),
    Scenario("two-users", 6, "a user with 200 connections who does all that it may",
             (everything,) * PROCESSES, helpers=(witness,), seconds=12.0, quick_seconds=4.0,
             ratio_max=2.0),
    Scenario("two-users-control", 6, "the same attack, by the user whose requests are measured",
             (everything,) * PROCESSES, seconds=12.0, ratio_max=2.0, user=HONEST_USER,
             is_control=True),
    Scenario("time-limits", 7, "pings and saves with 100 ms during a long change",
             (hold_writer,), saves=honest.limited_saves,
             not_compared={"saves": "each has its own limit"}),
    Scenario("abandoned-observers", 8, "500 slow live queries on each of 20 connections, which close",
             (abandoned_observers,), stop_seconds_max=STOP_SECONDS_MAX),
    Scenario("migrations", 8, "migration sessions in a loop, on connections that stay open",
             (migrations,), stop_seconds_max=STOP_SECONDS_MAX),
]
