"""Saves of change sets that are too long for one message: their parts, and the replies to them."""

from __future__ import annotations

from dataclasses import dataclass, field

from .errors import LarderError, failure, violation
from .v1 import change_pb2, larder_pb2

#: A longer set is sent in parts, so that the server reads it part by part.
BYTES_MAX = 4 << 20
CHANGES_MAX = 20_000
PART_BYTES = 1 << 20
#: The parts that may be on their way.
PARTS_MAX = 4
#: The time of the server for all parts.
SECONDS_MAX = 3_600.0
CAPABILITY = "saveInParts"


def is_divided(changes: change_pb2.ChangeSet) -> bool:
    """Whether to send a set in parts, which the protocol allows for sets without conditions."""
    if changes.ByteSize() <= BYTES_MAX and len(changes.changes) <= CHANGES_MAX:
        return False
    return not changes.conditions and not any(
        each.HasField("if_version") or each.base_values or each.HasField("by_predicate")
        for each in changes.changes)


def unsupported_parts() -> LarderError:
    """The error for a set that is too long for an earlier server."""
    return failure("UNSUPPORTED", "the server takes no change sets in parts", hint="divide the set")


@dataclass
class SaveProgress:
    """The parts that were sent, and the result as far as it has arrived."""

    content: bytes
    offset: int = 0
    sent_count: int = 0
    processed_count: int = 0
    is_complete: bool = False
    result: larder_pb2.SaveReply = field(default_factory=larder_pb2.SaveReply)

    @property
    def must_send(self) -> bool:
        """Whether the server accepts another part, and there is one."""
        return (
            self.offset < len(self.content) and self.sent_count - self.processed_count < PARTS_MAX)

    def next_part(self, request_id: int) -> larder_pb2.SavePartRequest:
        """The next bytes of the set."""
        part = self.content[self.offset:self.offset + PART_BYTES]
        self.offset, self.sent_count = self.offset + len(part), self.sent_count + 1
        return larder_pb2.SavePartRequest(
            request_id=request_id, content=part, last=self.offset == len(self.content))

    def received(self, reply: larder_pb2.SaveReply) -> None:
        """Adds a reply; the lists of all replies, one after the other, are those of the save."""
        if reply.part_count > self.sent_count:
            raise violation("the server has another number of parts")
        # The replies with the result have no number.
        self.processed_count = max(self.processed_count, reply.part_count)
        self.is_complete = not reply.more
        # Merging appends to lists and replaces numbers.
        self.result.MergeFrom(reply)
