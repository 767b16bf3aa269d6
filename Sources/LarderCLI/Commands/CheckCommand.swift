import ArgumentParser
import LarderModel

struct CheckCommand: StoreCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Looks at the whole store for what is not as it must be.",
        discussion: """
            EXAMPLES:
              larder check
              larder check --store school.store --schema school.schema.json

            A line for each finding: its place, the object's URI, and a sentence. Nothing, and \
            status 0, for a sound store; status 74 if there is a finding. It reads every object, \
            so give it time (--timeout) where there are many.
            """)

    @OptionGroup var options: GlobalOptions

    func run(_ store: OpenStore) throws {
        let report = try store.client.check()
        var writer = options.format.makeWriter()
        try writer.write(
            all: report.findings.map { finding in
                [
                    .string(finding.place), finding.uri.map(Value.string) ?? .null,
                    .string(finding.message),
                ]
            }, names: ["place", "object", "finding"])
        guard !report.findings.isEmpty else { return }
        let count = "\(report.findings.count)\(report.isCut ? " and more" : "")"
        throw LarderError(.storageFailed, "the check has findings: \(count)")
    }
}
