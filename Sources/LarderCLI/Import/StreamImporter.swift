import FoundationEssentials
import LarderClient
import LarderModel

/// Imports objects as a stream of rows: in transactions of some thousand rows, or in one.
///
/// It reads the next rows while the server stores the previous ones. After an error, the file is
/// committed exactly up to one line, which the error names; with one transaction, nothing is
/// committed.
struct StreamImporter {
    private let stream: InsertionStream
    private let insertion: Insertion
    private let entity: Entity
    private let schema: Schema
    private let store: UUID
    private let fileName: String

    private var objects: [SourceObject] = []
    private var bytes = 0
    private var lines = RowLineMap()
    private var progress = Progress("imported")

    init(
        _ session: StoreSession, _ entity: Entity, _ fileName: String, _ insertion: Insertion
    ) throws(LarderError) {
        schema = try session.client.schema()
        stream = try session.client.openInsertion(insertion)
        self.insertion = insertion
        self.entity = entity
        self.store = session.storeIdentifier
        self.fileName = fileName
    }

    /// Imports all objects of the source.
    mutating func run(_ source: some ObjectSource) throws(LarderError) -> InsertedRows {
        defer { progress.end() }
        do throws(LarderError) {
            try sendAll(of: source)
            return try stream.finish()
        } catch {
            throw settled(error)
        }
    }

    private mutating func sendAll(of source: some ObjectSource) throws(LarderError) {
        var source = source
        while let object = try source.next() {
            guard object.content.edits.isEmpty else {
                throw LarderError(
                    .wrongType, "a new object takes whole lists of related objects, not edits"
                ).at(line: object.line, of: fileName)
            }
            if isFull(before: object) { try send() }
            objects.append(object)
            bytes += object.byteCount
        }
        try send()
    }

    private func isFull(before object: SourceObject) -> Bool {
        guard let last = objects.last else { return false }
        // An update keeps the properties that its line does not name, so rows with other
        // properties need a batch of their own.
        let hasOtherColumns =
            insertion.onUniqueConflict == .upsert
            && last.content.values.keys != object.content.values.keys
        return hasOtherColumns || objects.count >= ChangeSetImporter.objectsMax
            || bytes + object.byteCount > ChangeSetImporter.bytesMax
    }

    private mutating func send() throws(LarderError) {
        guard !objects.isEmpty else { return }
        var names = Set(objects.flatMap(\.content.values.keys)).sorted()
        // A row needs at least one column.
        if names.isEmpty {
            names = entity.attributes.filter { !$0.isDerived }.prefix(1).map(\.name)
        }
        var builder = try RowBuilder(entity, names, in: schema, store: store)
        let defaults = names.map { entity.defaultValue(of: $0) }
        for object in objects {
            do throws(LarderError) {
                try builder.append(zip(names, defaults).map { object.content.values[$0] ?? $1 })
            } catch {
                // The whole batch is dropped, including the objects before this one.
                throw error.at(line: object.line, of: fileName)
            }
        }
        for object in objects { lines.append(object.line) }
        objects = []
        bytes = 0
        try stream.send(builder.take())
        let count = stream.progress.rowCount
        progress.show(Int(count))
        if !insertion.isAtomic { lines.forget(before: Int(count) - 1) }
    }

    /// The error with its line and with the part of the file that was committed. An error of the
    /// rows that the server has not confirmed yet comes first: they precede it in the file.
    private func settled(_ error: LarderError) -> LarderError {
        var error = error
        if !insertion.isAtomic {
            do throws(LarderError) { try stream.settle() } catch let earlier { error = earlier }
        }
        stream.cancel()
        error = located(error)
        if error.code == .indeterminate { return error }
        let count = insertion.isAtomic ? 0 : stream.progress.rowCount
        let lastLine = lines.line(of: Int(count) - 1)
        return error.adding(
            hint: ImportOutcome.hint(fileName, lastLine: lastLine, objectCount: count))
    }

    /// The error with line numbers instead of the row indexes of the stream.
    private func located(_ error: LarderError) -> LarderError {
        let found = error.details.map { $0.change.flatMap { lines.line(of: $0) } }
        guard let first = found.lazy.compactMap(\.self).first else { return error }
        var located = error.at(line: first, of: fileName)
        located.problems = zip(error.details, found).map { problem, line in
            line.map { "line \($0): \(problem.message)" } ?? problem.message
        }
        // The message of the error already contains a single problem.
        if located.problems.count == 1 { located.problems = [] }
        return located
    }
}

extension Entity {
    /// The value that an insert stores for a property that it does not name.
    fileprivate func defaultValue(of name: String) -> Value {
        switch property(named: name) {
        case .attribute(let attribute): attribute.defaultValue ?? .null
        case .relationship(let relationship) where relationship.isToMany: .objects([])
        case .relationship, nil: .null
        }
    }
}
