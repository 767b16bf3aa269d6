/// A statement with its parameters, `$1` and so on. The text comes from the writers of SQL alone: a
/// user's value is always a parameter.
package struct PostgresStatement: Sendable {
    package var text: String
    package var parameters: [PostgresValue]

    package init(_ text: String, _ parameters: [PostgresValue] = []) {
        self.text = text
        self.parameters = parameters
    }

    var shape: PreparedNames.Shape {
        PreparedNames.Shape(text: text, types: parameters.map(\.type))
    }
}

/// The result of a statement.
package struct PostgresRows: Hashable, Sendable {
    package var columns: [PostgresType] = []
    package var rows: [[PostgresValue]] = []
    /// The rows that an INSERT, UPDATE or DELETE has changed, or a SELECT has returned.
    package var affectedCount = 0
}
