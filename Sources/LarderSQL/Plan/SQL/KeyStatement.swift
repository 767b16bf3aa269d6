import LarderModel

/// A statement that is run for one key, or for several as a JSON array, with otherwise the same
/// values each time: it reads objects, their lists or their derived values.
package struct KeyStatement: Hashable, Sendable {
    /// Its parameters are constants, the key and the time.
    package let sql: SQL
    /// Whether the key is its only parameter.
    package let hasKeyOnly: Bool

    /// - Parameter statement: It may use the first argument of a query instead of the key.
    package init(_ statement: SQL, _ converter: ValueConverter) throws(LarderError) {
        let values = QueryParameters(arguments: [1])
        var parameters: [SQLParameter] = []
        for parameter in statement.parameters {
            switch parameter {
            case .now, .key: parameters.append(parameter)
            case .value(let value) where value.source == .argument(0): parameters.append(.key)
            case .elements(let list, let options, let count):
                let elements = try SQLParameter.elements(
                    of: list, options, count, values, converter)
                parameters += elements.map { parameter.known($0, converter.dialect) }
            default: parameters.append(try parameter.filled(values, converter))
            }
        }
        sql = converter.dialect.finished(statement.with(parameters))
        hasKeyOnly = sql.parameters == [.key]
    }

    /// - Parameter now: Seconds since 2001.
    package func values(key: SQLValue, now: @autoclosure () -> Double) -> [SQLValue] {
        sql.parameters.map { parameter in
            switch parameter {
            case .now: .real(now())
            case .constant(let value), .typed(let value, _): value
            default: key
            }
        }
    }

    /// The statement with all its values.
    package func filled(key: SQLValue, now: @autoclosure () -> Double) -> SQL {
        hasKeyOnly
            ? sql.with([.constant(key)])
            : sql.with(values(key: key, now: now()).map { .constant($0) })
    }
}

extension SQLValue {
    /// Keys as a JSON array, for `json_each`.
    @inlinable
    package static func keys(_ keys: some Sequence<Int64>) -> SQLValue {
        .text("[\(keys.lazy.map(String.init).joined(separator: ","))]")
    }
}
