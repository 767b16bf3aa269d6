package import LarderModel

extension Value {
    /// The identifiers that a relationship has; none for another value.
    package var links: [PersistentIdentifier] {
        switch self {
        case .object(let identifier): [identifier]
        case .objects(let identifiers): identifiers
        default: []
        }
    }
}
