public import FoundationEssentials
public import LarderModel

/// Conditions of a change set, with a format string or a `#Predicate`:
///
///     var changes = ChangeSet([.insert(booking, values: values)])
///     changes.unless(
///         "Booking", where: "room == %@ AND first < %@ AND end > %@",
///         arguments: [7, end, first])
///     try client.save(changes)
///
/// The store checks the conditions in the transaction of the set, before its first change. If one
/// is not met, `save` throws `conditionFailed` and changes nothing.
extension ChangeSet {
    /// Adds the condition that no object satisfies a predicate.
    ///
    /// - Parameters:
    ///   - format: The predicate in Core Data's format; nil is all objects of the entity.
    ///   - arguments: The values for `%@` and `%K`; not temporary identifiers.
    ///   - variables: The values for `$name`.
    public mutating func unless(
        _ entityName: String, where format: String?, arguments: [QueryArgument] = [],
        variables: [String: QueryArgument] = [:], includesSubentities: Bool = true
    ) {
        expect(
            0, of: entityName, where: format, arguments: arguments, variables: variables,
            includesSubentities: includesSubentities)
    }

    /// Adds the condition that exactly this number of objects satisfies a predicate. The parameters
    /// are those of ``unless(_:where:arguments:variables:includesSubentities:)``.
    public mutating func expect(
        _ count: Int64, of entityName: String, where format: String?,
        arguments: [QueryArgument] = [], variables: [String: QueryArgument] = [:],
        includesSubentities: Bool = true
    ) {
        let objects = ObjectSelection(
            entityName, where: format.map { .format($0) }, arguments: arguments,
            variables: variables, includesSubentities: includesSubentities)
        conditions.append(Condition(objects, count: count))
    }

    /// Adds the condition that no object satisfies the predicate.
    ///
    /// - Throws: `unsupportedPredicate` if the store cannot evaluate a part of the predicate.
    public mutating func unless<Entity: QueryableEntity>(
        where predicate: Predicate<Entity>, includesSubentities: Bool = true
    ) throws(LarderError) {
        try expect(0, where: predicate, includesSubentities: includesSubentities)
    }

    /// Adds the condition that exactly this number of objects satisfies the predicate.
    ///
    /// - Throws: `unsupportedPredicate` if the store cannot evaluate a part of the predicate.
    public mutating func expect<Entity: QueryableEntity>(
        _ count: Int64, where predicate: Predicate<Entity>, includesSubentities: Bool = true
    ) throws(LarderError) {
        var objects = try ObjectSelection(predicate, wantsIdentifiers: false)
        objects.includesSubentities = includesSubentities
        conditions.append(Condition(objects, count: count))
    }
}
