import FoundationEssentials
import LarderModel

/// The objects that the new schema does not permit, of which the first 100 are named.
///
/// A class, because an SQL function reports to it. Used on one thread.
final class MigrationFaults {
    private let store: UUID
    private var lines: [String] = []
    private(set) var count = 0

    init(store: UUID) { self.store = store }

    /// - Parameter message: A sentence with the property: `Article.title is required`.
    func report(_ entityName: String, key: Int64, _ message: String) {
        count += 1
        guard lines.count < LarderError.problemsMax else { return }
        let object = PersistentIdentifier(store: store, entityName: entityName, key: key)
        lines.append("\(object.uriRepresentation): \(message)")
    }

    /// - Throws: `migrationRefused` if there are any.
    func check() throws(LarderError) {
        guard count > 0 else { return }
        var error = LarderError(
            .migrationRefused,
            "the store has \(count) \(count == 1 ? "value" : "values") that the new schema does "
                + "not permit; nothing was changed",
            hint: "correct these objects with the old schema, or permit them in the new one",
            problems: lines)
        if count > lines.count { error.problems.append("and \(count - lines.count) more") }
        throw error
    }
}
