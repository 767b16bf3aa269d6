/// A path in a schema file: `entities[2].relationships[0].inverse`.
///
/// Paths are ordered from the top of the file to the bottom, with the keys of an object in the
/// order of the documentation.
package struct SchemaPath: Hashable {
    package enum Step: Hashable {
        case key(String)
        case index(Int)
    }

    package private(set) var steps: [Step]

    private init(steps: [Step] = []) { self.steps = steps }

    package static let root = SchemaPath()

    package subscript(key: String) -> SchemaPath { appending(.key(key)) }
    package subscript(index: Int) -> SchemaPath { appending(.index(index)) }

    private func appending(_ step: Step) -> SchemaPath {
        var path = self
        path.steps.append(step)
        return path
    }

    /// The path and all paths that contain it.
    package var enclosing: [SchemaPath] {
        (0...steps.count).map { SchemaPath(steps: Array(steps.prefix($0))) }
    }
}

extension SchemaPath: CustomStringConvertible {
    package var description: String {
        steps.reduce(into: "") { text, step in
            switch step {
            case .key(let key): text += text.isEmpty ? key : ".\(key)"
            case .index(let index): text += "[\(index)]"
            }
        }
    }
}

extension SchemaPath: Comparable {
    package static func < (left: SchemaPath, right: SchemaPath) -> Bool {
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
package struct LocatedProblem: Equatable {
    package let path: SchemaPath
    package let message: String

    package init(path: SchemaPath, message: String) {
        self.path = path
        self.message = message
    }

    package var problem: SchemaError.Problem {
        SchemaError.Problem(path: path.description, message: message)
    }
}
