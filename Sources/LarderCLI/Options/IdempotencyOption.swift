import ArgumentParser
import LarderModel

/// What names the changes of a command, so that it can be repeated.
struct IdempotencyOption: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Names the changes: the same command with the same key does nothing again, and prints "
                + "what it did.", valueName: "key"))
    var idempotencyKey: String?

    /// Empty for none.
    var key: String { idempotencyKey ?? "" }

    mutating func validate() throws {
        guard let idempotencyKey else { return }
        guard 1...Limits.idempotencyKeyBytesMax ~= idempotencyKey.utf8.count else {
            throw ValidationError(
                "--idempotency-key takes 1 to \(Limits.idempotencyKeyBytesMax) bytes")
        }
    }
}
