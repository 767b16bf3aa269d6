internal import Foundation

/// The objects of a controller by sections.
///
/// Objects of one section name are in one section, in their order; the sections are in the order of
/// their first objects.
struct ResultSections {
    let objects: [Any]
    let sections: [Section]
    private let paths: [ObjectIdentifier: IndexPath]

    struct Section {
        let name: String
        let objects: [Any]
    }

    static var empty: ResultSections { ResultSections([], names: []) }

    /// - Parameter names: The names of the objects' sections; nil for one section of all objects.
    init(_ objects: [Any], names: [String]?) {
        self.objects = objects
        guard let names else {
            sections = [Section(name: "", objects: objects)]
            paths = Self.paths(sections)
            return
        }
        var found: [String] = []
        var members: [String: [Any]] = [:]
        for (object, name) in zip(objects, names) {
            if members[name] == nil { found.append(name) }
            members[name, default: []].append(object)
        }
        sections = found.map { Section(name: $0, objects: members[$0] ?? []) }
        paths = Self.paths(sections)
    }

    private static func paths(_ sections: [Section]) -> [ObjectIdentifier: IndexPath] {
        var paths: [ObjectIdentifier: IndexPath] = [:]
        for (index, section) in sections.enumerated() {
            for (row, object) in section.objects.enumerated() {
                paths[key(object)] = IndexPath(row: row, section: index)
            }
        }
        return paths
    }

    /// The identity of an object; managed objects of one stored object are one.
    static func key(_ object: Any) -> ObjectIdentifier {
        (object as? NSManagedObject).map { ObjectIdentifier($0._$object) }
            ?? ObjectIdentifier(object as AnyObject)
    }

    func path(of object: Any) -> IndexPath? { paths[Self.key(object)] }

    /// The object at a path of two indexes; nil if there is none.
    func object(at path: IndexPath) -> Any? {
        guard path.count == 2, sections.indices.contains(path[0]),
            sections[path[0]].objects.indices.contains(path[1])
        else { return nil }
        return sections[path[0]].objects[path[1]]
    }
}
