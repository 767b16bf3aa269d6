import ArgumentParser
import LarderModel

/// The author of the changes of a command.
struct AuthorOption: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Author to record in the history of the store.", valueName: "name"))
    var author: String?

    mutating func validate() throws {
        guard let author, author.utf8.count > Limits.authorBytesMax else { return }
        throw ValidationError(
            "--author is longer than the maximum of \(Limits.authorBytesMax) bytes")
    }
}
