import ArgumentParser
import Foundation
import LarderData
import Library

@main
struct Reports: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "reports", abstract: "Reports over a library of articles.",
        subcommands: [
            Import.self, ByCategory.self, ByYear.self, TopAuthors.self, Regulars.self, Lists.self,
            Show.self, Open.self,
        ])
}

/// The file of the library, which several processes may use at the same time.
struct StoreOptions: ParsableArguments {
    @Option(name: .customLong("store"), help: "The file of the library.")
    var path: String

    func context() throws -> ModelContext {
        ModelContext(try Library.container(at: URL(filePath: path)))
    }
}

/// The begin of a day, such as 2026-03-01, in UTC.
struct Day: ExpressibleByArgument {
    let date: Date

    init?(argument: String) {
        let format = Date.ISO8601FormatStyle.iso8601.year().month().day()
        guard let date = try? Date(argument, strategy: format) else { return nil }
        self.date = date
    }
}
