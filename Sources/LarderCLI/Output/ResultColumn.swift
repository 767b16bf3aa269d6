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
}
