import LarderModel

/// The values and edits of an object as the user gave them.
struct ObjectContent: Sendable {
    var values: [String: Value] = [:]
    /// Edits of to-many relationships that have no value, in the order of their names.
    var edits: [RelationshipEdit] = []
    /// The related objects that are named by their values. In `values`, a temporary identifier
    /// whose name is the index of one refers to it.
    private(set) var related: [RelatedObject] = []

    /// Whether all values are nil.
    var isEmpty: Bool { edits.isEmpty && values.allSatisfy { $0.value.isNull } }

    /// Adds a related object and returns the identifier that refers to it in `values`.
    mutating func append(_ object: RelatedObject) -> PersistentIdentifier {
        related.append(object)
        return PersistentIdentifier(
            temporary: "\(related.count - 1)", entityName: object.entity.name)
    }

    /// The related object that an identifier in `values` refers to; nil for other identifiers.
    func relatedObject(_ identifier: PersistentIdentifier) -> RelatedObject? {
        guard case .temporary(let name) = identifier.key, let index = Int(name),
            related.indices.contains(index)
        else { return nil }
        return related[index]
    }

    /// The content with the identifiers of the related objects.
    ///
    /// - Parameter identifiers: One identifier for each of `related`.
    func replacingRelated(with identifiers: [PersistentIdentifier]) -> ObjectContent {
        func replaced(_ identifier: PersistentIdentifier) -> PersistentIdentifier {
            guard case .temporary(let name) = identifier.key, let index = Int(name),
                identifiers.indices.contains(index)
            else { return identifier }
            return identifiers[index]
        }
        let values = values.mapValues { value -> Value in
            switch value {
            case .object(let identifier): .object(replaced(identifier))
            case .objects(let identifiers): .objects(identifiers.map(replaced))
            default: value
            }
        }
        return ObjectContent(values: values, edits: edits)
    }

    /// The values, if there are no edits.
    ///
    /// - Parameter message: The message of the error if there are edits.
    func values(orThrow message: String) throws(LarderError) -> [String: Value] {
        guard edits.isEmpty else { throw LarderError(.wrongType, message) }
        return values
    }
}

extension ObjectContent {
    init(values: [String: Value], edits: [RelationshipEdit] = []) {
        self.init()
        self.values = values
        self.edits = edits
    }
}

/// An object of a relationship that is named by its values instead of its URI.
///
/// The values that a uniqueness constraint requires find the object. The others are used only if
/// the object is created.
struct RelatedObject: Sendable {
    /// The relationship in error messages: `Book.author`.
    let path: String
    /// The destination of the relationship, or the subentity that the input names.
    let entity: Entity
    let content: ObjectContent

    /// The first uniqueness constraint of the entity whose properties all have a value; nil if
    /// there is none, so that the object cannot be found.
    var constraint: [String]? {
        entity.uniquenessConstraints.first { names in
            names.allSatisfy { content.values[$0].map { !$0.isNull } ?? false }
        }
    }
}
