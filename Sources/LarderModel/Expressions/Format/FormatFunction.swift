/// What a name in front of `(` stands for.
enum FormatFunction {
    case scalar(ScalarFunction)
    /// Over the many values of its one operand.
    case aggregate(AggregateFunction)
    /// `min` and `max`: of one operand over its many values, of several one of them.
    case either(ScalarFunction, AggregateFunction)
    /// Core Data has it and Larder has not.
    case unsupported(hint: String)

    /// The function of a name, written in any case.
    init?(_ name: String) {
        guard name.utf8.count <= Limits.nameBytesMax,
            let function = Self.functions[name.lowercased()]
        else { return nil }
        self = function
    }

    /// The names that a person would write, for hints.
    static let names: [String] =
        ScalarFunction.allCases.map(\.rawValue)
        + AggregateFunction.allCases.map(\.collectionOperator)

    private static let functions: [String: FormatFunction] = {
        var functions: [String: FormatFunction] = [:]
        for function in AggregateFunction.allCases {
            functions[function.collectionOperator.lowercased()] = .aggregate(function)
        }
        for function in ScalarFunction.allCases {
            functions[function.rawValue.lowercased()] = .scalar(function)
        }
        functions["average"] = .aggregate(.average)
        functions["min"] = .either(.minimum, .minimum)
        functions["max"] = .either(.maximum, .maximum)
        for (name, alias) in coreDataNames {
            functions[name.lowercased()] = functions[alias.lowercased()]
        }
        for (name, hint) in unsupported { functions[name.lowercased()] = .unsupported(hint: hint) }
        return functions
    }()

    /// The names that `NSExpression` gives to functions.
    private static let coreDataNames: [(name: String, alias: String)] = [
        ("add:to:", "add"), ("from:subtract:", "subtract"), ("multiply:by:", "multiply"),
        ("divide:by:", "divide"), ("modulus:by:", "modulus"), ("raise:toPower:", "power"),
        ("bitwiseAnd:with:", "bitwiseAnd"), ("bitwiseOr:with:", "bitwiseOr"),
        ("bitwiseXor:with:", "bitwiseXor"), ("leftshift:by:", "leftShift"),
        ("rightshift:by:", "rightShift"), ("onesComplement:", "onesComplement"),
        ("sqrt:", "sqrt"), ("ln:", "ln"), ("log:", "log"), ("exp:", "exp"), ("floor:", "floor"),
        ("ceiling:", "ceiling"), ("abs:", "abs"), ("trunc:", "trunc"),
        ("uppercase:", "uppercase"), ("lowercase:", "lowercase"), ("canonical:", "canonical"),
        ("length:", "length"), ("sum:", "sum"), ("count:", "count"), ("average:", "average"),
        ("min:", "min"), ("max:", "max"), ("median:", "median"), ("mode:", "mode"),
        ("stddev:", "stddev"),
    ]

    private static let castHint =
        "a text in quotation marks takes the type of what it stands beside, as in "
        + "`published > \"2026-01-31\"`"
    private static let randomHint = "an answer is the same each time; choose among its rows"
    private static let distanceHint =
        "keep latitude and longitude in properties of their own, and compare those"
    private static let selectorHint =
        "a function is called by its own name, as in `length(title)`"

    private static let unsupported: [(name: String, hint: String)] = [
        ("CAST", castHint), ("castObject:toType:", castHint), ("FUNCTION", selectorHint),
        ("random", randomHint), ("random:", randomHint), ("randomn", randomHint),
        ("randomn:", randomHint),
        ("noindex", "write the operand alone"), ("noindex:", "write the operand alone"),
        ("distanceToLocation", distanceHint),
        ("distanceToLocation:fromLocation:", distanceHint),
        ("objectFrom:withIndex:", "write `ANY`, or a SUBQUERY over the collection"),
        ("BLOCK", "write what the block asks as a predicate"),
        ("BLOCKPREDICATE", "write what the block asks as a predicate"),
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
