import LarderModel

// Errors of writes that every writer has.
extension LarderError {
    package static let writerClosed = LarderError(.unavailable, "the store is being closed")
    package static let noTransactionNumbersLeft = LarderError(
        .storageFull, "the history has no numbers left")
    package static let changeSetTimedOut = LarderError(
        .timeout, "the change set took longer than its deadline; nothing was changed",
        hint: "use a longer timeout, or change fewer objects at once")
    package static let changeSetStopped = LarderError(
        .cancelled, "the change set was stopped; nothing was changed")
    package static let dryRunTooLong = LarderError(
        .unsupported, "a dry run cannot be sent in parts", hint: "try fewer changes at once")

    /// The error of rows that change more objects than a transaction may.
    package static func tooManyChangedObjects(_ countMax: Int) -> LarderError {
        LarderError(
            .resourceExhausted,
            "the rows of one transaction change more than \(countMax) other objects",
            hint: "insert them in several transactions")
    }
}
