/// An incremental edit of a to-many relationship. Unlike a value, which replaces the whole list,
/// edits by several callers to the same list are all preserved.
///
/// `docs/changes.md` describes how edits treat objects that are already in the list or not in it.
public enum RelationshipEdit: Hashable, Sendable {
    /// Adds objects to the relationship; objects that are already in it keep their positions.
    case add([PersistentIdentifier], to: String, at: RelationshipPosition = .last)
    /// Removes objects from the relationship; objects that are not in it are ignored.
    case remove([PersistentIdentifier], from: String)
    /// Moves objects of an ordered relationship to another position.
    case move([PersistentIdentifier], in: String, to: RelationshipPosition)

    /// The relationship's name.
    public var propertyName: String {
        switch self {
        case .add(_, let name, _), .remove(_, let name), .move(_, let name, _): name
        }
    }

    public var objects: [PersistentIdentifier] {
        switch self {
        case .add(let objects, _, _), .remove(let objects, _), .move(let objects, _, _): objects
        }
    }

    /// The target position; nil for a removal.
    public var position: RelationshipPosition? {
        switch self {
        case .add(_, _, let position), .move(_, _, let position): position
        case .remove: nil
        }
    }
}

/// A position in an ordered relationship, relative to the objects that the edit does not move.
public enum RelationshipPosition: Hashable, Sendable {
    case first
    case last
    case before(PersistentIdentifier)
    case after(PersistentIdentifier)
    /// The number of objects before the position, from 0. An index past the end means the end.
    case index(Int64)

    /// The object that the position is relative to; nil for other positions.
    package var neighbor: PersistentIdentifier? {
        switch self {
        case .before(let identifier), .after(let identifier): identifier
        case .first, .last, .index: nil
        }
    }
}
