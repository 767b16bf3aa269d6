import LarderClient
import LarderModel
import LarderPrograms

/// An import of the objects of one file.
struct FileImport {
    let session: StoreSession
    let decoder: ObjectDecoder
    let format: FileFormat
    let insertion: Insertion
    let createsRelated: Bool
    /// nil if the first bad row ends the import.
    let badRows: BadRows?

    func importJSON(_ input: InputFile) throws(LarderError) -> InsertedRows {
        let related = try RelatedObjects(session, creates: createsRelated)
        var source = try JSONObjectSource(input, decoder, format)
        source.acceptObjects(ofBytes: session.client.server.objectBytesMax)
        if needsChangeSets {
            source.keepsTexts = badRows != nil
            badRows?.begin(.json)
            var importer = ChangeSetImporter(
                session.client, decoder.entity, input, insertion, related, badRows: badRows)
            return try importer.run(source)
        }
        var rows = ObjectRowSource(source, decoder, input.name, insertion, related)
        var importer = try StreamImporter(session.client, input, insertion)
        let inserted = try importer.run(&rows)
        guard let remaining = rows.remaining else { return inserted }
        var rest = ChangeSetImporter(
            session.client, decoder.entity, input, insertion, related, after: inserted,
            line: importer.lastLine)
        return try rest.run(remaining)
    }

    func importCSV(_ input: InputFile) throws(LarderError) -> InsertedRows {
        let related = try RelatedObjects(session, creates: createsRelated)
        do throws(LarderError) {
            let table = try CSVTable(input, decoder, format)
            if needsChangeSets || !insertion.isAtomic && table.namesOwnObjects {
                badRows?.begin(.csv(header: table.headerText, delimiter: format.delimiter))
                var importer = ChangeSetImporter(
                    session.client, decoder.entity, input, insertion, related,
                    badRows: badRows)
                return try importer.run(CSVObjectSource(table, keepsTexts: badRows != nil))
            }
            var rows = CSVRowSource(table, related)
            var importer = try StreamImporter(session.client, input, insertion)
            return try importer.run(&rows)
        } catch {
            throw error.code == .missingValue
                ? error.adding(hint: "an empty field is nil, and \"\" is the empty string") : error
        }
    }

    /// Whether the objects are sent as change sets and not as a stream of rows.
    ///
    /// All rows of a batch have the same columns, but the lines of an upsert may name different
    /// properties; and a row cannot refer to an object of its transaction. A sequence of change
    /// sets cannot be atomic. Only a change set that is rejected can be sent again in parts.
    private var needsChangeSets: Bool {
        !insertion.isAtomic
            && (insertion.onUniqueConflict == .upsert || createsRelated || badRows != nil)
    }
}
