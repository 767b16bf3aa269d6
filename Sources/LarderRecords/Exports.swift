// Records are passed to and returned by the client, so one import serves both.
@_exported public import LarderClient
