import LarderModel

/// The function that a name before `(` calls.
package enum FormatFunction {
    case scalar(ScalarFunction)
    /// An aggregate of the values of its single operand.
    case aggregate(AggregateFunction)
    /// `min` and `max`: an aggregate with one operand, a scalar function with several.
    case either(ScalarFunction, AggregateFunction)
    /// A function of Core Data that Larder does not support.
    case unsupported(hint: String)

    /// Looks up a function by name, ignoring case.
    init?(_ name: String) {
        guard name.utf8.count <= Limits.nameBytesMax,
            let function = Self.functions[name.lowercased()]
        else { return nil }
        self = function
    }

    /// The names that users write, for suggestions.
    static let names: [String] =
        ScalarFunction.allCases.map(\.name)
        + AggregateFunction.allCases.map(\.collectionOperator)

    /// The hint for a name that is not the name of a function.
    static func hint(for name: String) -> String? {
        if name.utf8.count <= 16 {
            if let function = otherNames[name.lowercased()] { return "write `\(function)`" }
            if let hint = otherHints[name.lowercased()] { return hint }
        }
        return NameSuggestion.hint(for: name, among: names)
    }

    /// The function of one operand that a word means; nil if there is none.
    static func oneOperand(_ name: String) -> String? {
        guard name.utf8.count <= 16 else { return nil }
        let word = name.lowercased()
        let function = word == "count" || word == "size" ? "length" : otherNames[word] ?? name
        guard case .scalar(let scalar) = FormatFunction(function),
            scalar.operandCount.lowerBound == 1
        else { return nil }
        return scalar.name
    }

    /// The aggregate that a word means; nil if there is none.
    static func aggregate(_ name: String) -> AggregateFunction? {
        guard name.utf8.count <= 16 else { return nil }
        let word = name.lowercased()
        let function = word == "length" || word == "size" ? "count" : otherNames[word] ?? name
        switch FormatFunction(function) {
        case .aggregate(let aggregate), .either(_, let aggregate): return aggregate
        default: return nil
        }
    }

    /// The names of functions in SQL and in programming languages.
    private static let otherNames: [String: String] = {
        var names = ["mean": "average", "total": "sum", "stdev": "stddev"]
        for function in ScalarFunction.allCases {
            for name in function.definition.otherNames { names[name] = function.name }
        }
        return names
    }()

    private static let otherHints: [String: String] = [
        "isnull": "write `== NULL`", "exists": "write `articles.@count > 0`, or a SUBQUERY",
        "date": FormatHint.date, "datetime": FormatHint.date, "timestamp": FormatHint.date,
        "to_date": FormatHint.date, "strftime": datePart, "extract": datePart,
        "date_part": datePart, "datepart": datePart,
        "dayofweek": "write `weekday(d)`, which is 1 for Monday",
        "dow": "write `weekday(d)`, which is 1 for Monday",
        "substr": substring, "mid": substring, "left": substring, "right": substring,
        "prefix": substring, "suffix": substring,
        "split_part": "write `split(s, separator, index)`; the first part has the index 0",
        "concat_ws": "write `concat(a, b, …)` with the separators",
        "regexp_replace": "write `replace(s, part, replacement)`",
        "repeat": "write `padEnd(\"\", length, s)`",
        "date_trunc": startOf, "datetrunc": startOf,
        "datediff": distance, "date_diff": distance, "timestampdiff": distance, "age": distance,
        "date_add": seconds, "dateadd": seconds, "date_sub": seconds,
        "printf": format, "to_char": format, "str": format, "string": format, "text": format,
    ]

    private static let datePart =
        "write `year(d)`, `month(d)`, `day(d)`, `hour(d)`, `minute(d)`, `second(d)` or `weekday(d)`"
    private static let startOf = "write `startOf(d, \"month\")`"
    private static let distance = "write `distance(from, to, \"day\")`"
    private static let seconds = "add a number of seconds to the date, or subtract it"
    private static let substring =
        "write `substring(s, start, count)`; the first character has the index 0, the last one -1"
    private static let format = "write `format(number, places)`"

    private static let functions: [String: FormatFunction] = {
        var functions: [String: FormatFunction] = [:]
        for function in AggregateFunction.allCases {
            functions[function.collectionOperator.lowercased()] = .aggregate(function)
        }
        for function in ScalarFunction.allCases {
            functions[function.name.lowercased()] = .scalar(function)
        }
        functions["average"] = .aggregate(.average)
        functions["min"] = .either(.minimum, .minimum)
        functions["max"] = .either(.maximum, .maximum)
        for function in ScalarFunction.allCases {
            guard let name = function.definition.coreDataName else { continue }
            functions[name.lowercased()] = .scalar(function)
        }
        for name in coreDataAggregates { functions["\(name):"] = functions[name] }
        for (name, hint) in unsupported { functions[name.lowercased()] = .unsupported(hint: hint) }
        return functions
    }()

    /// The names of aggregates that `NSExpression` has with a colon.
    private static let coreDataAggregates = [
        "sum", "count", "average", "min", "max", "median", "mode", "stddev",
    ]

    private static let castHint =
        "text in quotation marks is converted to the type it is compared with, as in "
        + "`published > \"2026-01-31\"`"
    private static let randomHint =
        "a query returns the same result each time; choose a random row from it"
    private static let distanceHint =
        "store latitude and longitude in two properties and compare those"
    private static let selectorHint =
        "call a function by its own name, as in `length(title)`"

    private static let unsupported: [(name: String, hint: String)] = [
        ("CAST", castHint), ("castObject:toType:", castHint), ("FUNCTION", selectorHint),
        ("random", randomHint), ("random:", randomHint), ("randomn", randomHint),
        ("randomn:", randomHint),
        ("noindex", "write the operand alone"), ("noindex:", "write the operand alone"),
        ("distanceToLocation", distanceHint),
        ("distanceToLocation:fromLocation:", distanceHint),
        ("objectFrom:withIndex:", "write `ANY`, or a SUBQUERY over the collection"),
        ("BLOCK", "write the condition as a predicate"),
        ("BLOCKPREDICATE", "write the condition as a predicate"),
        ("FETCH", "write a SUBQUERY over a relationship"),
    ]
}

extension ClosedRange<Int> {
    /// `1 operand`, `2 to 64 operands`.
    var operands: String {
        switch (lowerBound, upperBound) {
        case (0, 0): "no operands"
        case (1, 1): "1 operand"
        case (let lower, let upper) where lower == upper: "\(lower) operands"
        case (let lower, let upper): "\(lower) to \(upper) operands"
        }
    }
}
