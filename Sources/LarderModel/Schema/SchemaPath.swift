/// A path in a schema file: `entities[2].relationships[0].inverse`.
///
/// Paths are ordered from the top of the file to the bottom, with the keys of an object in the
/// order of the documentation.
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

    /// The path and all paths that contain it.
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

/// A problem and its path, before it is formatted for the caller.
struct LocatedProblem: Equatable {
    let path: SchemaPath
    let message: String

    var problem: SchemaError.Problem {
        SchemaError.Problem(path: path.description, message: message)
    }
}
