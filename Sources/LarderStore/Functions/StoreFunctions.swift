import LarderModel

/// The functions, aggregates and collations that queries use, except the collation that every
/// connection has.
enum StoreFunctions {
    /// Registers all of them, and returns where they report errors and store groups.
    static func register(
        on connection: Connection
    ) throws(SQLiteError) -> (faults: FunctionFaults, groups: GroupedRows) {
        let faults = FunctionFaults()
        try DecimalFunctions.register(on: connection, faults)
        try StatisticFunctions.register(on: connection, faults)
        try StringFunctions.register(on: connection, faults)
        try StringCollations.register(on: connection)
        try IntegerFunctions.register(on: connection, faults)
        try RealFunctions.register(on: connection)
        try ModeFunctions.register(on: connection, faults)
        try ScalarFunctions.register(on: connection)
        let groups = try GroupFunctions.register(on: connection, faults)
        return (faults, groups)
    }
}
