import FoundationEssentials
import LarderModel
import LarderQuery
import QueryFuzzing

/// A predicate about a fixed schema: the first line is the format string, each further line is an
/// argument as text. Without further lines, the arguments are values of several types.
///
/// The planner and the evaluator must both accept or both reject it, and select the same objects.
public struct PredicateInput: FuzzedInput {
    public static let name = "predicates"

    private static let schema = """
        {"version":"1.0.0","entities":[
          {"name":"Item","attributes":[
            {"name":"flag","type":"bool","optional":true},
            {"name":"small","type":"int16","optional":true,"indexed":true},
            {"name":"medium","type":"int32","optional":true},
            {"name":"large","type":"int64","optional":true,"indexed":true},
            {"name":"ratio","type":"float","optional":true},
            {"name":"weight","type":"double","optional":true,"indexed":true},
            {"name":"price","type":"decimal","optional":true,"indexed":true},
            {"name":"title","type":"string","optional":true,"indexed":true},
            {"name":"made","type":"date","optional":true},
            {"name":"code","type":"uuid","optional":true},
            {"name":"link","type":"url","optional":true},
            {"name":"bytes","type":"data","optional":true},
            {"name":"notes","type":"json","optional":true}],
           "relationships":[
            {"name":"owner","destination":"Owner","inverse":"ownerback"},
            {"name":"parts","destination":"Item","toMany":true,"ordered":true},
            {"name":"tags","destination":"Tag","toMany":true,"inverse":"tagsback"}]},
          {"name":"Tool","parent":"Item","attributes":[
            {"name":"grade","type":"int64","optional":true}]},
          {"name":"Owner","attributes":[{"name":"name","type":"string"}],
           "relationships":[
            {"name":"ownerback","destination":"Item","toMany":true,"inverse":"owner"},
            {"name":"friend","destination":"Owner","inverse":"friendback"},
            {"name":"friendback","destination":"Owner","inverse":"friend"}]},
          {"name":"Tag","attributes":[
            {"name":"name","type":"string","optional":true},
            {"name":"count","type":"int64","optional":true}],
           "relationships":[
            {"name":"tagsback","destination":"Item","toMany":true,"inverse":"tags"}]}]}
        """

    private static let arguments: [QueryArgument] = [
        "a", 1, "title", 2.5, nil, ["b", nil, "é"], [1, 2, 3], true, "owner.name",
        .value(.decimal(Decimal(12.5))),
        .value(.date(Date(timeIntervalSinceReferenceDate: 86_400))), -1,
    ]
    private static let variables: [String: QueryArgument] = ["a": "b", "n": 3, "list": [1, 2]]

    private let comparison: FormatComparison

    public init() throws {
        comparison = try FormatComparison(SchemaFile.schema(parsing: Self.schema))
    }

    public func fault(of bytes: [UInt8]) -> String? {
        let lines = String(decoding: bytes, as: UTF8.self)
            .split(separator: "\n", omittingEmptySubsequences: false)
        let format = String(lines[0])
        var parameters = QueryParameters(variables: Self.variables)
        parameters.argumentsAreText = lines.count > 1
        parameters.arguments =
            lines.count > 1
            ? lines.dropFirst().map { .value(.string(String($0))) } : Self.arguments
        if let parsed = try? PredicateFormat.parse(format, arguments: parameters.arguments) {
            // A query with unused arguments or variables is rejected.
            parameters.arguments = Array(parameters.arguments.prefix(parsed.argumentsUsed))
            parameters.variables = parameters.variables.filter { format.contains("$\($0.key)") }
            if let fault = Self.fault(of: parsed.expression, parameters.arguments) { return fault }
        }
        return comparison.difference(about: "Item", format, parameters)
    }

    /// A tree must parse to itself. Key paths are formatted as names, so `%K` is left out.
    private static func fault(
        of tree: QueryExpression, _ arguments: [QueryArgument]
    ) -> String? {
        let text = tree.format
        guard let again = try? PredicateFormat.parse(text, arguments: arguments) else {
            return text.contains("%@") ? nil : "a tree is written as \(text), which is rejected"
        }
        return again.expression.format == text ? nil : "a tree differs after it was written"
    }
}
