/// A place in a schema file: `entities[2].relationships[0].inverse`.
///
/// Places are ordered as the file is read from top to bottom, an object's keys in the order in
/// which the documentation lists them.
struct SchemaPath: Hashable {
    enum Step: Hashable {
        case key(String)
        case index(Int)
    }

    private(set) var steps: [Step] = []

    static let root = SchemaPath()

    subscript(key: String) -> SchemaPath { appending(.key(key)) }
    subscript(index: Int) -> SchemaPath { appending(.index(index)) }

    private func appending(_ step: Step) -> SchemaPath {
        var path = self
        path.steps.append(step)
        return path
    }

    /// This place and those in which it lies.
    var enclosing: [SchemaPath] {
        (0...steps.count).map { SchemaPath(steps: Array(steps.prefix($0))) }
    }
}

extension SchemaPath: CustomStringConvertible {
    var description: String {
        steps.reduce(into: "") { text, step in
            switch step {
            case .key(let key): text += text.isEmpty ? key : ".\(key)"
            case .index(let index): text += "[\(index)]"
            }
        }
    }
}

extension SchemaPath: Comparable {
    static func < (left: SchemaPath, right: SchemaPath) -> Bool {
        left.steps.lexicographicallyPrecedes(right.steps) { left, right in
            switch (left, right) {
            case (.index(let left), .index(let right)): left < right
            case (.key(let left), .key(let right)): SchemaKey.precedes(left, right)
            case (.key, .index): true
            case (.index, .key): false
            }
        }
    }
}

/// A fault and its place, before it is put into words for the caller.
struct LocatedFault {
    let path: SchemaPath
    let message: String

    var fault: SchemaError.Fault { SchemaError.Fault(path: path.description, message: message) }
}
