import ArgumentParser
import LarderModel

/// Who makes the changes of a command.
struct AuthorOption: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Who makes the changes, for the store's history.", valueName: "name"))
    var author: String?

    mutating func validate() throws {
        guard let author, author.utf8.count > Limits.authorBytesMax else { return }
        throw ValidationError("--author takes at most \(Limits.authorBytesMax) bytes")
    }
}
