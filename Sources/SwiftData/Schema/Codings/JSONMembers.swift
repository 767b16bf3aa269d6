/// The members of structures that are stored as JSON documents, by the key paths of their stored
/// properties.
package enum JSONMembers {
    /// The names of the members along a key path, for a query of the document.
    ///
    /// - Returns: nil if the key path has a computed property or a subscript, or a property that is
    ///   encoded with another name.
    package static func path(of keyPath: AnyKeyPath) -> [String]? {
        // A key path of stored properties is described by their names; there is no other way to
        // find them.
        KeyPathText.components(of: keyPath).flatMap {
            path($0, in: Swift.type(of: keyPath).rootType)
        }
    }

    /// The members in the text of a key path after its root.
    static func path(_ components: Substring, in root: any Any.Type) -> [String]? {
        let names = components.split(separator: ".").map { name in
            String(name.filter { $0 != "?" && $0 != "!" })
        }
        let isPlain = names.allSatisfy { name in
            !name.isEmpty && name.allSatisfy { $0.isLetter || $0.isNumber || $0 == "_" }
        }
        guard isPlain, let first = names.first,
            let type = ValueType(root).wrapped as? any Decodable.Type
        else { return nil }
        if let keys = BlankDecoder.keys(of: type), !keys.contains(first) { return nil }
        return names
    }
}
