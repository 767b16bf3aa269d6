import FoundationEssentials
import LarderClient
import LarderModel

/// Stores objects from a source by a stream of rows: as transactions of some thousands, or as one.
///
/// The server stores some rows while the next are read. After an error the file is stored exactly
/// up to a line, which the error says, or, of one transaction, not at all.
struct StreamImporter {
    private let stream: InsertionStream
    private let insertion: Insertion
    private let entity: Entity
    private let schema: Schema
    private let store: UUID
    private let fileName: String

    private var objects: [SourceObject] = []
    private var bytes = 0
    private var lines = RowLines()
    private var progress = Progress("imported")

    init(
        _ store: OpenStore, _ entity: Entity, _ fileName: String, _ insertion: Insertion
    ) throws(LarderError) {
        schema = try store.client.schema()
        stream = try store.client.openInsertion(insertion)
        self.insertion = insertion
        self.entity = entity
        self.store = store.identifier
        self.fileName = fileName
    }

    /// Stores everything.
    mutating func store(_ source: some ObjectSource) throws(LarderError) -> InsertedRows {
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
                    .wrongType, "the relationships of a new object are whole lists, not edits"
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
        // An object that is updated keeps what its line does not name.
        let isOther =
            insertion.onUniqueConflict == .upsert
            && last.content.values.keys != object.content.values.keys
        return isOther || objects.count >= Importer.objectsMax
            || bytes + object.byteCount > Importer.bytesMax
    }

    private mutating func send() throws(LarderError) {
        guard !objects.isEmpty else { return }
        var names = Set(objects.flatMap(\.content.values.keys)).sorted()
        // Rows have a column at least.
        if names.isEmpty {
            names = entity.attributes.filter { !$0.isDerived }.prefix(1).map(\.name)
        }
        var builder = try RowBuilder(entity, names, in: schema, store: store)
        let left = names.map { entity.valueLeftOut($0) }
        for object in objects {
            do throws(LarderError) {
                try builder.append(zip(names, left).map { object.content.values[$0] ?? $1 })
            } catch {
                // Those before it are of the same batch, which is left out whole.
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

    /// The error with its line, and with what became of the file. An error of the source comes
    /// after the outcome of what is under way, which stands in front of it.
    private func settled(_ error: LarderError) -> LarderError {
        var error = error
        if !insertion.isAtomic {
            do throws(LarderError) { try stream.settle() } catch let earlier { error = earlier }
        }
        stream.cancel()
        error = placed(error)
        if error.code == .indeterminate { return error }
        let count = stream.progress.rowCount
        guard !insertion.isAtomic, count > 0, let line = lines.line(of: Int(count) - 1) else {
            return error.hinting("nothing of \(fileName) is stored")
        }
        return error.hinting("the objects up to line \(line) are stored, \(count) of them")
    }

    /// The error with lines for the places of rows in the stream.
    private func placed(_ error: LarderError) -> LarderError {
        let found = error.details.map { $0.change.flatMap { lines.line(of: $0) } }
        guard let first = found.lazy.compactMap(\.self).first else { return error }
        var placed = error.at(line: first, of: fileName)
        placed.faults = zip(error.details, found).map { fault, line in
            line.map { "line \($0): \(fault.message)" } ?? fault.message
        }
        // A single one stands in the sentence already.
        if placed.faults.count == 1 { placed.faults = [] }
        return placed
    }
}

extension Entity {
    /// What an insert that does not name a property stores for it.
    fileprivate func valueLeftOut(_ name: String) -> Value {
        switch property(named: name) {
        case .attribute(let attribute): attribute.defaultValue ?? .null
        case .relationship(let relationship) where relationship.isToMany: .objects([])
        case .relationship, nil: .null
        }
    }
}

/// On which line of a file each row of a stream began. Rows on consecutive lines take no more than
/// their first.
struct RowLines {
    /// Beyond it lines are not known any more, so that memory stays bounded whatever the file.
    static let runsMax = 1_000_000

    private var runs: [(row: Int, line: Int)] = []
    private var count = 0

    mutating func append(_ line: Int) {
        defer { count += 1 }
        if let last = runs.last, last.line + count - last.row == line { return }
        if runs.count < Self.runsMax { runs.append((row: count, line: line)) }
    }

    /// The line of a row, from 0; nil if it is not known.
    func line(of row: Int) -> Int? {
        guard row >= 0, row < count, let run = runs.last(where: { $0.row <= row }),
            runs.count < Self.runsMax || row < runs[runs.count - 1].row
        else { return nil }
        return run.line + row - run.row
    }

    /// These rows are not asked for any more.
    mutating func forget(before row: Int) {
        guard let first = runs.lastIndex(where: { $0.row <= row }), first > 0 else { return }
        runs.removeFirst(first)
    }
}
