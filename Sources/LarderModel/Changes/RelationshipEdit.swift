/// A difference that a change makes to one of its object's to-many relationships, where a value
/// would set the whole list: so the edits of several callers to one list all survive.
///
/// `docs/changes.md` says what each does to objects that are in the list already, or not in it.
public enum RelationshipEdit: Hashable, Sendable {
    /// Puts objects into the relationship; those that are in it stay where they are.
    case add([PersistentIdentifier], to: String, at: ListPlace = .last)
    /// Takes objects out of the relationship; those that are not in it are passed over.
    case remove([PersistentIdentifier], from: String)
    /// Gives objects of an ordered relationship another place.
    case move([PersistentIdentifier], in: String, to: ListPlace)

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

    /// Where the objects get to; nil where they go.
    public var place: ListPlace? {
        switch self {
        case .add(_, _, let place), .move(_, _, let place): place
        case .remove: nil
        }
    }
}

/// A place in an ordered list, among the objects that an edit does not put there itself.
public enum ListPlace: Hashable, Sendable {
    case first
    case last
    case before(PersistentIdentifier)
    case after(PersistentIdentifier)
    /// Behind so many others, from 0; beyond the end it is the end.
    case index(Int64)

    /// The object that the place is next to, if it is given by one.
    public var neighbor: PersistentIdentifier? {
        switch self {
        case .before(let identifier), .after(let identifier): identifier
        case .first, .last, .index: nil
        }
    }
}
