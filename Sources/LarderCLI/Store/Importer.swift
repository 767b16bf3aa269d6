import LarderClient
import LarderModel

/// Stores objects from a source in change sets, one after the other; those that have the unique
/// values already are updated.
///
/// While the server stores one set the next is read, but no set is sent before the one in front
/// of it is stored: so after an error the file is stored exactly up to a line, and the error says
/// which.
struct Importer {
    /// A change set is full with so many objects, or with so much text.
    static let objectsMax = 2_000
    static let bytesMax = 1 << 20

    private let client: StoreClient
    private let entityName: String
    private let fileName: String
    private let wantsIdentifiers: Bool
    private var keys: [KeyRun] = []

    private var objects: [SourceObject] = []
    private var bytes = 0
    private var pending: PendingSave?
    private var storedCount: Int64 = 0
    private var storedLine: Int?

    private struct PendingSave {
        let objects: [SourceObject]
        let call: Pending<Result<SaveResult, LarderError>>
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

    /// Stores everything.
    mutating func store(_ source: some ObjectSource) throws(LarderError) -> InsertedRows {
        var progress = Progress("imported")
        defer { progress.end() }
        do throws(LarderError) {
            var source = source
            while let object = try next(&source) {
                if isFull(before: object) {
                    try send()
                    progress.show(Int(storedCount))
                }
                objects.append(object)
                bytes += object.byteCount
            }
            try send()
            try finish()
        } catch {
            throw error.hinting(rest)
        }
        return InsertedRows(rowCount: storedCount, keys: keys)
    }

    /// An error of the source comes after the outcome of the set that is under way, which stands
    /// in front of it in the file.
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
            objects.enumerated().map { position, object in
                .insert(
                    PersistentIdentifier(temporary: "\(position)", entityName: entityName),
                    values: object.content.values, edits: object.content.edits)
            }, onUniqueConflict: .upsert)
        let client = client
        pending = PendingSave(
            objects: objects,
            call: try Pending {
                do throws(LarderError) {
                    return .success(try await client.save(changes))
                } catch {
                    return .failure(error)
                }
            })
        objects = []
        bytes = 0
    }

    /// Waits for the set that is under way.
    private mutating func finish() throws(LarderError) {
        guard let sent = pending else { return }
        pending = nil
        do throws(LarderError) {
            let result = try sent.call.wait().get()
            if wantsIdentifiers {
                for key in result.inserted.compactMap(\.permanentKey) {
                    KeyRun.append(key, to: &keys)
                }
            }
        } catch {
            let lines = sent.objects.map(\.line)
            throw ChangePlaces(fileName: fileName, lines: lines).naming(error)
                ?? error.at(lines: lines, of: fileName)
        }
        storedCount += Int64(sent.objects.count)
        storedLine = sent.objects.last?.line
    }

    /// What became of the file when it was not stored whole.
    private var rest: String {
        guard let storedLine else { return "nothing of \(fileName) is stored" }
        return "the objects up to line \(storedLine) are stored, \(storedCount) of them"
    }
}
