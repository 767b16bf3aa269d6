import LarderClient
import LarderModel

/// Imports objects as a sequence of change sets that update objects with the same unique values.
///
/// It reads the next set while the server commits the previous one, but sends a set only after the
/// previous one is committed. So after an error, the file is committed exactly up to one line, and
/// the error names it.
struct ChangeSetImporter {
    /// The limits of one change set: the number of objects, and the bytes of their text.
    static let objectsMax = 2_000
    static let bytesMax = 1 << 20

    private let client: StoreClient
    private let entityName: String
    private let fileName: String
    private let wantsIdentifiers: Bool
    private var keys: [KeyRange] = []

    private var objects: [SourceObject] = []
    private var bytes = 0
    private var pending: PendingSave?
    private var committedCount: Int64 = 0
    private var committedLine: Int?

    private struct PendingSave {
        let objects: [SourceObject]
        let call: PendingCall<Result<SaveResult, LarderError>>
    }

    init(
        _ client: StoreClient, _ entityName: String, _ fileName: String,
        wantsIdentifiers: Bool
    ) {
        self.wantsIdentifiers = wantsIdentifiers
        self.client = client
        self.entityName = entityName
        self.fileName = fileName
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
                    progress.show(Int(committedCount))
                }
                objects.append(object)
                bytes += object.byteCount
            }
            try send()
            try finish()
        } catch {
            throw error.adding(
                hint: ImportOutcome.hint(
                    fileName, lastLine: committedLine, objectCount: committedCount))
        }
        return InsertedRows(rowCount: committedCount, keys: keys)
    }

    /// The next object. After an error of the source, waits for the pending set first: its objects
    /// precede the error in the file, so its own error is the one to report.
    private mutating func next(
        _ source: inout some ObjectSource
    ) throws(LarderError) -> SourceObject? {
        do throws(LarderError) {
            return try source.next()
        } catch {
            try finish()
            throw error
        }
    }

    private func isFull(before object: SourceObject) -> Bool {
        objects.count >= Self.objectsMax
            || (!objects.isEmpty && bytes + object.byteCount > Self.bytesMax)
    }

    private mutating func send() throws(LarderError) {
        try finish()
        guard !objects.isEmpty else { return }
        let changes = ChangeSet(
            objects.enumerated().map { index, object in
                .insert(
                    PersistentIdentifier(temporary: "\(index)", entityName: entityName),
                    values: object.content.values, edits: object.content.edits)
            }, onUniqueConflict: .upsert)
        pending = PendingSave(
            objects: objects, call: try PendingCall(saving: changes, by: client))
        objects = []
        bytes = 0
    }

    /// Waits for the pending set.
    private mutating func finish() throws(LarderError) {
        guard let sent = pending else { return }
        pending = nil
        do throws(LarderError) {
            let result = try sent.call.wait().get()
            if wantsIdentifiers {
                for key in result.inserted.compactMap(\.permanentKey) {
                    KeyRange.append(key, to: &keys)
                }
            }
        } catch {
            let lines = sent.objects.map(\.line)
            throw ChangeLineNumbers(fileName: fileName, lines: lines).locating(error)
                ?? error.at(lines: lines, of: fileName)
        }
        committedCount += Int64(sent.objects.count)
        committedLine = sent.objects.last?.line
    }
}
