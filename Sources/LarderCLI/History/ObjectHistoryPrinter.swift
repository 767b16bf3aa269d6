import LarderModel

/// Prints the changes of an object, one property per row.
struct ObjectHistoryPrinter {
    let format: OutputFormat

    private static let names = [
        "number", "time", "author", "client", "user", "process", "kind", "property", "from", "to",
        "recorded",
    ]

    func print(_ steps: some Sequence<ObjectHistory.Step>) throws {
        var writer = format.makeWriter()
        try writer.begin(Self.names)
        for step in steps {
            let source = step.transaction.source
            let header: [Value] = [
                .int(step.transaction.id), .date(step.transaction.timestamp),
                .string(step.transaction.author), .string(source.clientName),
                source.userIdentifier.map {
                    format.isForPeople ? .string(UserName.of($0)) : .int(Int64($0))
                } ?? .null,
                source.processIdentifier.map { .int(Int64($0)) } ?? .null,
                .string(step.kind.name),
            ]
            let changed = step.properties.filter { $0.before != $0.after || $0.before == .unknown }
            for (name, before, after) in changed {
                let isRecorded = before != .unknown && after != .unknown
                try writer.write(
                    header + [.string(name), before.shown, after.shown, .bool(isRecorded)])
            }
            // A change of the version alone, or an object without values, is a row, too.
            if changed.isEmpty { try writer.write(header + [.null, .null, .null, .bool(true)]) }
        }
        try writer.end()
    }
}

extension ObjectHistory.Known {
    fileprivate var shown: Value {
        switch self {
        case .value(let value): value
        case .unknown: .null
        }
    }
}
