/// A statement with its parameters, `$1` and so on. The text comes from the writers of SQL alone: a
/// user's value is always a parameter.
package struct PostgresStatement: Sendable {
    package var text: String
    package var parameters: [PostgresValue]
    /// Whether the statement itself bounds its rows, as FETCH does. They are collected by libpq
    /// then, which takes less time than to receive them one by one.
    package var returnsFewRows: Bool

    package init(
        _ text: String, _ parameters: [PostgresValue] = [], returnsFewRows: Bool = false
    ) {
        self.text = text
        self.parameters = parameters
        self.returnsFewRows = returnsFewRows
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
