import ArgumentParser
import Foundation
import LarderData
import Library

struct Show: ParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Shows the object with a URI.")

    @OptionGroup var store: StoreOptions
    @Argument(help: "The URI of an object.") var uri: String

    func run() throws { print(try store.context().describe(uri: uri)) }
}

struct Open: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Finds an article, and passes its URI to another process that shows it.",
        discussion: "Both processes use the file at the same time.")

    @OptionGroup var store: StoreOptions
    @Argument(help: "The title of the article.") var title: String

    func run() throws {
        let context = try store.context()
        guard let article = try context.article(titled: title) else {
            throw LibraryError.notFound("article \"\(title)\"")
        }
        let process = Process()
        process.executableURL = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
        process.arguments = [
            "show", "--store", store.path,
            article.persistentModelID.uriRepresentation,
        ]
        try process.run()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { throw ExitCode(process.terminationStatus) }
    }
}
