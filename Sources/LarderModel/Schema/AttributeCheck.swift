import FoundationEssentials

/// Checks the facets of one attribute, except for its name.
enum AttributeCheck {
    /// The problems, each with the schema-file key that it concerns.
    static func problems(in attribute: Attribute) -> [(key: String, message: String)] {
        let ofForm = indexProblems(in: attribute) + scaleProblems(in: attribute)
        if attribute.isDerived { return ofForm + derivationProblems(in: attribute) }
        return ofForm + boundProblems(in: attribute) + lengthProblems(in: attribute)
            + defaultProblems(in: attribute)
    }

    /// Rejects indexes of texts for values that are none.
    private static func indexProblems(in attribute: Attribute) -> [(String, String)] {
        if attribute.type == .string { return [] }
        let type = attribute.type.rawValue
        let indexes = [
            ("unique", attribute.unique == .insensitive, "has case and accents"),
            ("indexed", attribute.indexed == .insensitive, "has case and accents"),
            ("search", !attribute.search.isEmpty, "is searched"),
        ]
        return indexes.filter(\.1).map { ($0.0, "only a string \($0.2), not \(type)") }
    }

    private static func scaleProblems(in attribute: Attribute) -> [(String, String)] {
        guard let scale = attribute.scale else { return [] }
        if attribute.type != .decimal {
            return [("scale", "only a decimal has a scale, not \(attribute.type.rawValue)")]
        }
        let range = 0...Decimal.digitsMax
        return range.contains(scale)
            ? [] : [("scale", "expected a number from 0 to \(range.upperBound)")]
    }

    /// Rejects facets that apply only to attributes set by callers.
    private static func derivationProblems(in attribute: Attribute) -> [(String, String)] {
        let validation = attribute.validation
        let facets = [
            ("default", attribute.defaultValue != nil), ("unique", attribute.isUnique),
            ("minimum", validation.minimum != nil), ("maximum", validation.maximum != nil),
            ("minLength", validation.minLength != nil), ("maxLength", validation.maxLength != nil),
            ("pattern", validation.pattern != nil),
        ]
        return facets.filter(\.1).map {
            ($0.0, "not allowed for a derived attribute, whose values the store computes")
        }
    }

    private static func boundProblems(in attribute: Attribute) -> [(String, String)] {
        let type = attribute.type
        let bounds = [
            ("minimum", attribute.validation.minimum), ("maximum", attribute.validation.maximum),
        ]
        var problems: [(String, String)] = []
        for (key, bound) in bounds {
            guard let bound else { continue }
            if !type.isOrdered {
                problems.append((key, "only numbers and dates have bounds, not \(type.rawValue)"))
            } else if !isValue(bound, of: type) {
                problems.append((key, "expected \(type.textDescription)"))
            }
        }
        if problems.isEmpty, let minimum = bounds[0].1, let maximum = bounds[1].1,
            precedes(maximum, minimum)
        {
            problems.append(("maximum", "is less than the minimum"))
        }
        return problems
    }

    private static func lengthProblems(in attribute: Attribute) -> [(String, String)] {
        let validation = attribute.validation
        let lengths = [("minLength", validation.minLength), ("maxLength", validation.maxLength)]
        var problems: [(String, String)] = []
        for (key, length) in lengths {
            guard let length else { continue }
            if attribute.type != .string && attribute.type != .data {
                problems.append((key, "only string and data have a length"))
            } else if length < 0 {
                problems.append((key, "is negative"))
            }
        }
        if problems.isEmpty, let minimum = validation.minLength, let maximum = validation.maxLength,
            maximum < minimum
        {
            problems.append(("maxLength", "is less than minLength"))
        }
        if validation.pattern != nil, attribute.type != .string {
            problems.append(("pattern", "only a string has a pattern"))
        }
        return problems
    }

    private static func defaultProblems(in attribute: Attribute) -> [(String, String)] {
        guard let value = attribute.defaultValue else { return [] }
        let validation = attribute.validation
        guard isValue(value, of: attribute.type) else {
            return [("default", "expected \(attribute.type.textDescription)")]
        }
        let length: Int? =
            switch value {
            case .string(let text): text.count
            case .data(let data): data.count
            default: nil
            }
        var problems: [(String, String)] = []
        if let minimum = validation.minimum, precedes(value, minimum) {
            problems.append(("default", "is less than the minimum"))
        }
        if let maximum = validation.maximum, precedes(maximum, value) {
            problems.append(("default", "is greater than the maximum"))
        }
        if let length, let minimum = validation.minLength, length < minimum {
            problems.append(("default", "is shorter than minLength"))
        }
        if let length, let maximum = validation.maxLength, length > maximum {
            problems.append(("default", "is longer than maxLength"))
        }
        return problems
    }

    /// Whether an attribute of the type can hold the value without a conversion.
    private static func isValue(_ value: Value, of type: AttributeType) -> Bool {
        !value.isNull && value.converted(to: type) == value
    }

    /// Compares two values of the same ordered type; false for other values.
    private static func precedes(_ left: Value, _ right: Value) -> Bool {
        switch (left, right) {
        case (.int(let left), .int(let right)): left < right
        case (.float(let left), .float(let right)): left < right
        case (.double(let left), .double(let right)): left < right
        case (.decimal(let left), .decimal(let right)): left < right
        case (.date(let left), .date(let right)): left < right
        default: false
        }
    }
}

extension AttributeType {
    /// Whether `minimum` and `maximum` apply to the type: numbers and dates.
    var isOrdered: Bool {
        switch self {
        case .int16, .int32, .int64, .float, .double, .decimal, .date: true
        case .bool, .string, .uuid, .url, .data, .json: false
        }
    }
}
