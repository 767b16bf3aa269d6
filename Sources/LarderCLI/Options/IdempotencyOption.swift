import ArgumentParser
import LarderModel

/// The idempotency key of a command.
struct IdempotencyOption: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            """
            Makes the command safe to retry: repeating it with the same key changes nothing and \
            prints the original result.
            """, valueName: "key"))
    var idempotencyKey: String?

    /// The key; empty for none.
    var key: String { idempotencyKey ?? "" }

    mutating func validate() throws {
        guard let idempotencyKey else { return }
        guard 1...Limits.idempotencyKeyBytesMax ~= idempotencyKey.utf8.count else {
            throw ValidationError(
                "--idempotency-key must have 1 to \(Limits.idempotencyKeyBytesMax) bytes")
        }
    }
}
