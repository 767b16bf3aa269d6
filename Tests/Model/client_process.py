"""A client of the store in a process of its own, which sends encoded requests unchanged."""

import raw_client
from raw_client import Client, larder

KINDS = {"save": raw_client.changes.ChangeSet, "get": larder.GetRequest,
         "query": larder.QueryRequest, "check": larder.CheckRequest}


class ClientProcess:
    """`alter`, if it is not None, is called with each change set before it is sent."""

    def __init__(self, number, alter=None):
        self.number, self.alter = number, alter
        self.client = None

    def connect(self, path):
        if self.client:
            self.client.close()
        self.client = Client(path, name=f"client {self.number}")
        return self.client.welcome.store

    def exchange(self, requests):
        """Sends all requests (kind, bytes), then returns the encoded replies in their order."""
        sent = []
        for kind, content in requests:
            message = KINDS[kind].FromString(content)
            if self.alter and kind == "save":
                self.alter(message)
            sent.append(self.client.send(kind, message))
        replies = {}
        while len(replies) < len(sent):
            envelope = self.client.receive_envelope()
            if envelope.id not in sent:
                raise ConnectionError(f"a reply to no request: {envelope}")
            replies[envelope.id] = envelope.SerializeToString()
        return [replies[each] for each in sent]
