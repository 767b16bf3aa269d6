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
        let text = String(describing: keyPath)
        let root = Swift.type(of: keyPath).rootType
        guard let names = names(in: text, root), !names.isEmpty, let first = names.first,
            let type = ValueType(root).wrapped as? any Decodable.Type
        else { return nil }
        if let keys = BlankDecoder.keys(of: type), !keys.contains(first) { return nil }
        return names
    }

    private static func names(in text: String, _ root: any Any.Type) -> [String]? {
        let prefixes = ["\\\(root).", "\\\(String(reflecting: root))."]
        guard let prefix = prefixes.first(where: text.hasPrefix) else { return nil }
        let names = text.dropFirst(prefix.count).split(separator: ".").map { name in
            String(name.filter { $0 != "?" && $0 != "!" })
        }
        let isPlain = names.allSatisfy { name in
            !name.isEmpty && name.allSatisfy { $0.isLetter || $0.isNumber || $0 == "_" }
        }
        return isPlain ? names : nil
    }
}
