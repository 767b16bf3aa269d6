/// The description of a key path: its components are the names of stored properties, and the
/// functions of computed ones. There is no other way to take a key path apart.
enum KeyPathText {
    /// The text after the root: `place.city` for `\\Article.place.city` if `place` is stored.
    static func components(of keyPath: AnyKeyPath) -> Substring? {
        let text = String(describing: keyPath)
        let root = type(of: keyPath).rootType
        let prefixes = ["\\\(root).", "\\\(String(reflecting: root))."]
        guard let prefix = prefixes.first(where: text.hasPrefix) else { return nil }
        return text.dropFirst(prefix.count)
    }
}

/// The properties along a key path.
struct PropertyPath {
    /// Their names in the store.
    var names: [String]
    /// Whether the last ones are members of a structure that is stored as a document.
    var isInDocument = false
}

extension ModelDescription {
    /// The names in the store of the properties along a key path: through relationships to one
    /// model, and into a structure that is stored as a document.
    ///
    /// - Returns: nil if a part of the key path is not persisted, or leads to many models.
    func path(along keyPath: AnyKeyPath) -> PropertyPath? {
        KeyPathText.components(of: keyPath).flatMap { path(along: $0) }
    }

    func path(along components: Substring) -> PropertyPath? {
        guard let (slot, length) = firstSlot(of: components) else { return nil }
        let property = properties[slot]
        let rest = components.dropFirst(length).drop { $0 == "?" || $0 == "!" }
        if rest.isEmpty { return PropertyPath(names: [property.storeName]) }
        guard rest.first == "." else { return nil }
        var path: PropertyPath? =
            switch property.kind {
            case .toOne(let type): ModelDescription.of(type).path(along: rest.dropFirst())
            case .toMany: nil
            case .attribute(let coding) where coding.form == .json:
                JSONMembers.path(rest.dropFirst(), in: property.valueType).map {
                    PropertyPath(names: $0, isInDocument: true)
                }
            case .attribute: nil
            }
        path?.names.insert(property.storeName, at: 0)
        return path
    }
}
