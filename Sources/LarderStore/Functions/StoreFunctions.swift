import LarderModel
import LarderQuery
import LarderSQL

/// The functions, aggregates and collations that queries use, except the collation that every
/// connection has.
enum StoreFunctions {
    /// Registers all of them. They report their errors to ``Connection/functionFaults``.
    ///
    /// - Returns: where they store groups.
    @discardableResult
    static func register(on connection: Connection) throws(SQLError) -> GroupedRows {
        let problems = connection.functionFaults
        try DecimalFunctions.register(on: connection, problems)
        try DecimalForm.register(on: connection)
        try StatisticFunctions.register(on: connection, problems)
        try StringFunctions.register(on: connection, problems)
        try StringCollations.register(on: connection)
        try IntegerFunctions.register(on: connection, problems)
        try RealFunctions.register(on: connection)
        try ModeFunctions.register(on: connection, problems)
        try JoinFunctions.register(on: connection, problems)
        try ScalarFunctions.register(on: connection, problems)
        try JSONFunctions.register(on: connection)
        try SearchFunctions.register(on: connection, problems)
        try ListTable.register(on: connection)
        return try GroupFunctions.register(on: connection, problems)
    }
}
