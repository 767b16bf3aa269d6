// The client's calls take and return the vocabulary of `LarderModel`, so one import serves both.
@_exported public import LarderModel
@_exported public import LarderQuery
