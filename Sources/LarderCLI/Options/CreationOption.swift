import ArgumentParser

/// Whether missing related objects are created.
struct CreationOption: ParsableArguments {
    @Flag(
        help: ArgumentHelp(
            """
            Create the related objects that are named by their values and not in the store, in the \
            same transaction.
            """))
    var createRelated = false

    /// - Throws: A usage error with an idempotency key: a repeated command would find the objects
    ///   that the first one created, so its changes would differ.
    func check(_ idempotency: IdempotencyOption) throws {
        guard !createRelated || idempotency.key.isEmpty else {
            throw ValidationError(
                "--create-related and --idempotency-key cannot be combined; insert the related "
                    + "objects first")
        }
    }
}
