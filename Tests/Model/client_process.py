"""A client of the store in a process of its own: it sends what it is given, as it is given."""

import larder_client
from larder_client import Client, larder

KINDS = {"save": larder_client.changes.ChangeSet, "get": larder.GetRequest,
         "query": larder.QueryRequest, "check": larder.CheckRequest}


class ClientProcess:
    """`meddle`, if there is one, gets each change set on its way and may change it."""

    def __init__(self, number, meddle=None):
        self.number, self.meddle = number, meddle
        self.client = None

    def connect(self, path):
        if self.client:
            self.client.close()
        self.client = Client(path, name=f"client {self.number}")
        return self.client.welcome.store

    def ask(self, requests):
        """Sends all (kind, bytes) before it waits: the answers' bytes, in the same order."""
        sent = []
        for kind, content in requests:
            message = KINDS[kind].FromString(content)
            if self.meddle and kind == "save":
                self.meddle(message)
            sent.append(self.client.send(kind, message))
        answers = {}
        while len(answers) < len(sent):
            length = int.from_bytes(self.client.stream.read(4), "big")
            content = self.client.stream.read(length)
            envelope = larder.Envelope.FromString(content)
            if envelope.id not in sent:
                raise ConnectionError(f"an answer to nothing: {envelope}")
            answers[envelope.id] = content
        return [answers[each] for each in sent]
