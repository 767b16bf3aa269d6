import LarderModel

/// A column of a printed result: a part of the object's identity, or a key path.
enum ResultColumn: Hashable {
    case identifier
    case entity
    case version
    case property(String)

    init(_ name: String) {
        self =
            switch name {
            case "@id": .identifier
            case "@entity": .entity
            case "@version": .version
            default: .property(name)
            }
    }

    var name: String {
        switch self {
        case .identifier: "@id"
        case .entity: "@entity"
        case .version: "@version"
        case .property(let name): name
        }
    }

    var isIdentity: Bool { keyPath == nil }

    var keyPath: String? {
        if case .property(let keyPath) = self { keyPath } else { nil }
    }

    /// The columns that `--select` names, separated by commas.
    static func list(_ text: String) -> [ResultColumn] {
        text.split(separator: ",", omittingEmptySubsequences: false).map {
            ResultColumn(String($0))
        }
    }

    /// What must be fetched to show these columns.
    static func selection(_ columns: [ResultColumn]) -> Fetch.Selection {
        let keyPaths = columns.compactMap(\.keyPath)
        return keyPaths.isEmpty ? .identifiers : .columns(keyPaths.map { QueryColumn($0) })
    }
}
