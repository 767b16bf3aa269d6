// A test uses the store by its client, so one import serves both.
@_exported public import LarderClient
