import LarderClient
import LarderModel
import LarderPrograms

/// Imports objects as a sequence of change sets, which can update objects with the same unique
/// values, create the related objects that the input names, and relate objects of the file.
///
/// It reads the next set while the server commits the previous one, but sends a set only after the
/// previous one is committed. So after an error, the file is committed exactly up to one line, and
/// the error names it.
struct ChangeSetImporter {
    /// The limits of one change set: the number of objects, and the bytes of their text.
    static let objectsMax = 2_000
    static let bytesMax = 1 << 20

    private let client: StoreClient
    private let entity: Entity
    private let file: InputFile
    private let insertion: Insertion
    private var related: RelatedObjects
    /// nil if the first bad row ends the import.
    private let badRows: BadRows?
    private var keys: [KeyRange] = []

    private var objects: [SourceObject] = []
    private var bytes = 0
    private var pending: PendingSave?
    private var committedCount: Int64 = 0
    private var committedLine: Int?

    /// How often a set is sent if other clients create the same related objects meanwhile.
    private static let attemptsMax = 8

    private struct PendingSave {
        let objects: [SourceObject]
        /// The line of each change. The first changes create related objects.
        let lines: [Int]
        var attempt = 1
        let call: SaveCall

        /// The value that a change of the set gives to a property of an object of the file.
        func value(_ change: Int, _ property: String) -> Value? {
            let index = change - (lines.count - objects.count)
            return objects.indices.contains(index) ? objects[index].content.values[property] : nil
        }
    }

    /// - Parameters:
    ///   - inserted: The objects of the file that are committed already.
    ///   - line: The line of the last of them.
    init(
        _ client: StoreClient, _ entity: Entity, _ file: InputFile, _ insertion: Insertion,
        _ related: RelatedObjects, after inserted: InsertedRows = InsertedRows(),
        line: Int? = nil, badRows: BadRows? = nil
    ) {
        self.badRows = badRows
        keys = inserted.keys
        committedCount = inserted.rowCount
        committedLine = line
        self.client = client
        self.entity = entity
        self.file = file
        self.insertion = insertion
        self.related = related
    }

    /// Imports all objects of the source.
    mutating func run(_ source: some ObjectSource) throws(LarderError) -> InsertedRows {
        var progress = Progress("imported")
        defer { progress.end() }
        do throws(LarderError) {
            var source = source
            while let object = try next(&source) {
                if isFull(before: object) {
                    try send()
                    progress.show(Int(committedCount), fraction: file.readFraction)
                }
                objects.append(object)
                bytes += object.byteCount
            }
            try send()
            try finish()
        } catch {
            throw error.adding(
                hint: ImportOutcome.hint(
                    file.name, lastLine: committedLine, objectCount: committedCount))
        }
        return InsertedRows(rowCount: committedCount, keys: keys)
    }

    /// The next object. After an error of the source, waits for the pending set first: its objects
    /// precede the error in the file, so its own error is the one to report.
    private mutating func next(
        _ source: inout some ObjectSource
    ) throws(LarderError) -> SourceObject? {
        while true {
            do throws(LarderError) {
                return try source.next()
            } catch {
                guard let badRows, let row = source.badRow else {
                    try finish()
                    throw error
                }
                try badRows.append(row, error, file.name)
            }
        }
    }

    private func isFull(before object: SourceObject) -> Bool {
        objects.count >= Self.objectsMax
            || (!objects.isEmpty && bytes + object.byteCount > Self.bytesMax)
    }

    private mutating func send() throws(LarderError) {
        try finish()
        guard !objects.isEmpty else { return }
        guard badRows == nil else {
            let sent = objects
            objects = []
            bytes = 0
            return try sendGood(of: sent)
        }
        // The objects may name those of the previous set, which is committed now.
        pending = try save(objects, attempt: 1)
        objects = []
        bytes = 0
    }

    private mutating func save(
        _ objects: [SourceObject], attempt: Int
    ) throws(LarderError) -> PendingSave {
        let (changes, lines) = try related.inserts(objects, of: entity, file.name)
        let set = ChangeSet(changes, onUniqueConflict: insertion.onUniqueConflict)
        return PendingSave(
            objects: objects, lines: lines, attempt: attempt,
            call: try SaveCall(of: set, by: client))
    }

    /// Waits for the pending set.
    private mutating func finish() throws(LarderError) {
        guard let sent = pending else { return }
        pending = nil
        do throws(LarderError) {
            let result = try sent.call.wait().get()
            if insertion.wantsIdentifiers {
                let own = result.inserted.suffix(sent.objects.count)
                for key in own.compactMap(\.permanentKey) {
                    KeyRange.append(key, to: &keys)
                }
            }
        } catch {
            // Another client may have created a related object since it was looked up.
            let createsObjects = sent.lines.count > sent.objects.count
            if error.code == .uniquenessViolated, createsObjects, sent.attempt < Self.attemptsMax {
                pending = try save(sent.objects, attempt: sent.attempt + 1)
                return try finish()
            }
            let located = ChangeLineNumbers(fileName: file.name, lines: sent.lines).locating(error)
            throw located.map { $0.showing(sent.value) }
                ?? error.at(lines: sent.objects.map(\.line), of: file.name)
        }
        committedCount += Int64(sent.objects.count)
        committedLine = sent.objects.last?.line
    }

    // MARK: Bad rows

    /// Commits the objects that the store accepts, in their order, and writes the others to the
    /// bad rows.
    private mutating func sendGood(of objects: [SourceObject]) throws(LarderError) {
        guard let badRows, !objects.isEmpty else { return }
        do throws(LarderError) {
            pending = try save(objects, attempt: 1)
            try finish()
        } catch {
            guard error.concernsRows else { throw error }
            if let object = objects.first, objects.count == 1 {
                return try badRows.append(
                    SourceRow(line: object.line, text: object.text), error, file.name)
            }
            // The error may name one row of several, or none. Halves find each with few attempts.
            let middle = objects.count / 2
            try sendGood(of: Array(objects[..<middle]))
            try sendGood(of: Array(objects[middle...]))
        }
    }
}

extension LarderError {
    /// Whether other rows may be accepted although these were not.
    fileprivate var concernsRows: Bool {
        switch code {
        case .malformedIdentifier, .foreignIdentifier, .objectNotFound, .wrongType, .missingValue,
            .validationFailed, .uniquenessViolated, .invalidChangeSet, .malformedValue,
            .resourceExhausted, .versionConflict, .unknownEntity:
            true
        default: false
        }
    }
}
