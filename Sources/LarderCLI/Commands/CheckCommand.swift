import ArgumentParser
import LarderModel

struct CheckCommand: StoreCommand, PagedCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Verify the integrity of the whole store.",
        discussion: """
            EXAMPLES:
              larder check
              larder check --store school.store --schema school.schema.json

            Prints one line per problem: the location, the URI of the object, and a description. \
            For an intact store, it prints nothing and exits with status 0; after a problem, with \
            74. It reads every object, so a large store needs a longer --timeout, of up to an hour \
            with a server. On a terminal, it shows for how long it has run.
            """)

    @OptionGroup var connection: ConnectionOptions
    @OptionGroup var output: OutputOption

    func run(_ session: StoreSession) throws {
        let progress = ElapsedProgress("checking the store")
        let report: CheckReport
        do {
            defer { progress.end() }
            report = try session.client.check()
        }
        if report.findings.isEmpty, output.format.isForPeople { return }
        var writer = output.format.makeWriter()
        try writer.write(
            all: report.findings.map { finding in
                [
                    .string(finding.location), finding.uri.map(Value.string) ?? .null,
                    .string(finding.message),
                ]
            }, names: ["location", "object", "problem"])
        guard !report.findings.isEmpty else { return }
        let count = "\(report.findings.count)\(report.isTruncated ? " or more" : "")"
        throw LarderError(.storageFailed, "problems found in the store: \(count)")
    }
}
