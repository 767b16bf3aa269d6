internal import FoundationEssentials
internal import LarderModel
internal import Synchronization

/// The names of temporary identifiers: a UUID of the process and a number, as in Core Data.
enum TemporaryNames {
    private static let process = UUID().uuidString
    /// All numbers have seven digits or more, so that names are in the order of their numbers.
    private static let number = Atomic<Int>(1_000_000)

    static func next(entityName: String) -> PersistentIdentifier {
        let number = number.add(1, ordering: .relaxed).newValue
        return PersistentIdentifier(temporary: "\(process)\(number)", entityName: entityName)
    }
}
