import LarderModel

extension ScalarFunction {
    package var definition: FunctionDefinition { Self.definitions[Int(rawValue)] }

    /// By the number of the function.
    private static let definitions: [FunctionDefinition] = {
        let count = 1 + (allCases.map { Int($0.rawValue) }.max() ?? 0)
        var definitions = [FunctionDefinition](repeating: now.row, count: count)
        for function in allCases { definitions[Int(function.rawValue)] = function.row }
        return definitions
    }()

    /// The table of functions: everything that typing, evaluation, SQL, format strings and messages
    /// have to know of one.
    private var row: FunctionDefinition {
        switch self {
        case .add:
            number("add", coreData: "add:to:", 2...2, .numbersOrDates)
        case .subtract:
            number("subtract", coreData: "from:subtract:", 2...2, .numbersOrDates)
        case .multiply: number("multiply", coreData: "multiply:by:", 2...2, .numbers)
        case .divide: number("divide", coreData: "divide:by:", 2...2, .numbers)
        case .modulus:
            number("modulus", also: ["mod"], coreData: "modulus:by:", 2...2, .numbers, [.double])
        case .power: real("power", also: ["pow"], coreData: "raise:toPower:", 2...2)
        case .negate: number("negate", 1...1, .numbers)

        case .abs: number("abs", coreData: "abs:", 1...1, .numbers, [.int64])
        case .floor: number("floor", coreData: "floor:", 1...1, .numbers, [.double])
        case .ceiling:
            number("ceiling", also: ["ceil"], coreData: "ceiling:", 1...1, .numbers, [.double])
        case .round:
            FunctionDefinition(
                "round", 1...2, .places(nil), .arithmetic, domains: [.int64, .double, .decimal]
            ) { operands, interruption in
                operands.count == 2 ? rounded(operands) : arithmetic(operands, interruption)
            }
        case .trunc:
            number("trunc", also: ["truncate"], coreData: "trunc:", 1...1, .numbers, [.double])
        case .sqrt: real("sqrt", coreData: "sqrt:", 1...1)
        case .exp: real("exp", coreData: "exp:", 1...1)
        case .ln: real("ln", coreData: "ln:", 1...1)
        case .log: real("log", also: ["log10"], coreData: "log:", 1...1)
        case .minimum: extreme("min", also: ["least"], .minimum)
        case .maximum: extreme("max", also: ["greatest"], .maximum)

        case .bitwiseAnd: bits("bitwiseAnd", coreData: "bitwiseAnd:with:", 2...2, .bitwise)
        case .bitwiseOr: bits("bitwiseOr", coreData: "bitwiseOr:with:", 2...2, .bitwise)
        case .bitwiseXor:
            bits("bitwiseXor", coreData: "bitwiseXor:with:", 2...2, .call(.int64))
        case .onesComplement: bits("onesComplement", coreData: "onesComplement:", 1...1, .bitwise)
        case .leftShift: bits("leftShift", coreData: "leftshift:by:", 2...2, .bitwise)
        case .rightShift: bits("rightShift", coreData: "rightshift:by:", 2...2, .bitwise)

        case .length:
            text(
                "length", also: ["len", "strlen", "char_length"], coreData: "length:", 1...1, [],
                .int64
            ) { text, _, _ in .int(Int64(text.count)) }
        case .uppercase:
            text(
                "uppercase", also: ["upper", "ucase", "uppercased"], coreData: "uppercase:", 1...1,
                [], .string
            ) { text, _, interruption in
                .string(text.uppercased(interruption).normalized(interruption))
            }
        case .lowercase:
            text(
                "lowercase", also: ["lower", "lcase", "lowercased"], coreData: "lowercase:", 1...1,
                [], .string
            ) { text, _, interruption in
                .string(text.lowercased(interruption).normalized(interruption))
            }
        case .canonical:
            text("canonical", coreData: "canonical:", 1...1, [], .string) { text, _, interruption in
                .string(
                    text.folded(caseInsensitive: true, diacriticInsensitive: true, interruption))
            }
        case .concat:
            text("concat", 2...Limits.functionOperandsMax, [], .string, concatenation)
        case .substring:
            text("substring", 2...3, [.value(.int64), .value(.int64)], .string, substring)
        case .trim:
            text("trim", also: ["trimmed"], 1...2, [.value(.string)], .string, trimmed)
        case .trimStart:
            text("trimStart", also: ["ltrim"], 1...2, [.value(.string)], .string, trimmed)
        case .trimEnd:
            text("trimEnd", also: ["rtrim"], 1...2, [.value(.string)], .string, trimmed)
        case .replace:
            text("replace", 3...3, [.value(.string), .value(.string)], .string, replaced)
        case .split:
            text(
                "split", 3...3, [.value(.string), .value(.int64)], .string, nil: .always, part)
        case .padStart:
            text(
                "padStart", also: ["lpad"], 2...3, [.value(.int64), .value(.string)], .string,
                nil: .always, padded)
        case .padEnd:
            text(
                "padEnd", also: ["rpad"], 2...3, [.value(.int64), .value(.string)], .string,
                nil: .always, padded)
        case .initials:
            text("initials", 1...1, [], .string) { text, _, interruption in
                .string(text.initials(interruption).normalized(interruption))
            }
        // Computed over elements, not from the values of one object.
        case .join:
            FunctionDefinition(
                "join", also: ["string_agg", "group_concat", "listagg", "joined"], 2...2,
                .prescribed([.value(.string), .value(.string)], .string), .join
            ) { _, _ in .null }
        case .format:
            FunctionDefinition(
                "format", 2...2, .places(.string), .callOfNumber,
                domains: [.int64, .double, .decimal]
            ) { operands, _ throws(LarderError) in try formatted(operands) }

        case .search: search("search", .bool)
        case .score: search("score", also: ["bm25", "rank", "ts_rank"], .double)
        case .highlight:
            search(
                "highlight", 2...4, [.searchText, .value(.string), .value(.string)],
                nil: .ifAnyOperandIsNil)
        case .snippet:
            search(
                "snippet", also: ["ts_headline"], 2...5,
                [.searchText, .value(.int64), .value(.string), .value(.string)], nil: .always)

        case .now:
            FunctionDefinition("now", 0...0, .prescribed([], .date), .time, nil: .never) { _, _ in
                .null
            }
        case .year: date("year")
        case .month: date("month")
        case .day: date("day")
        case .hour: date("hour")
        case .minute: date("minute")
        case .second: date("second")
        case .weekday: date("weekday", also: ["isodow"])
        case .startOf: date("startOf", 2...3, [.value(.date), .unit, .zone], .date)
        // The number of seconds, without a unit, is a double.
        case .distance:
            FunctionDefinition(
                "distance", 2...4,
                .prescribed([.value(.date), .value(.date), .unit, .zone], .int64), .call(.date)
            ) { operands, _ in distance(operands) }

        case .coalesce:
            FunctionDefinition(
                "coalesce", also: ["ifnull", "nvl"], 2...Limits.functionOperandsMax, .common,
                .coalesce, nil: .ifAllOperandsAreNil
            ) { operands, _ in operands.first { !$0.isNull } ?? .null }
        case .conditional:
            FunctionDefinition(
                "ternary", also: ["if", "iif"], 3...3, .conditional, .conditional,
                nil: .ifAnyOperandIsNil
            ) { operands, _ in operands[0] == .bool(true) ? operands[1] : operands[2] }
        }
    }

    // MARK: Rows of one kind

    private func number(
        _ name: String, also otherNames: [String] = [], coreData: String? = nil,
        _ operandCount: ClosedRange<Int>, _ typing: FunctionDefinition.Typing,
        _ domains: [FunctionDefinition.Domain] = []
    ) -> FunctionDefinition {
        FunctionDefinition(
            name, also: otherNames, coreData: coreData, operandCount, typing, .arithmetic,
            domains: domains, arithmetic)
    }

    private func real(
        _ name: String, also otherNames: [String] = [], coreData: String? = nil,
        _ operandCount: ClosedRange<Int>
    ) -> FunctionDefinition {
        FunctionDefinition(
            name, also: otherNames, coreData: coreData, operandCount, .reals, .call(.double),
            arithmetic)
    }

    private func bits(
        _ name: String, coreData: String, _ operandCount: ClosedRange<Int>,
        _ form: FunctionDefinition.Form
    ) -> FunctionDefinition {
        FunctionDefinition(
            name, coreData: coreData, operandCount, .prescribed([.value(.int64)], .int64), form,
            arithmetic)
    }

    private func extreme(
        _ name: String, also otherNames: [String], _ form: FunctionDefinition.Form
    ) -> FunctionDefinition {
        FunctionDefinition(
            name, also: otherNames, 2...Limits.functionOperandsMax, .ordered, form
        ) { [self] operands, _ in extreme(operands) }
    }

    /// A function whose first operand is a string.
    private func text(
        _ name: String, also otherNames: [String] = [], coreData: String? = nil,
        _ operandCount: ClosedRange<Int>, _ others: [FunctionDefinition.Parameter],
        _ result: AttributeType,
        nil nullability: FunctionDefinition.Nullability = .ifAnyOperandIsNil,
        _ body:
            @escaping @Sendable (String, [Value], Interruption) throws(LarderError) -> Value
    ) -> FunctionDefinition {
        FunctionDefinition(
            name, also: otherNames, coreData: coreData, operandCount,
            .prescribed([.value(.string)] + others, result), .call(.string), nil: nullability
        ) { operands, interruption throws(LarderError) in
            guard case .string(let text) = operands[0] else { return .null }
            return try body(text, operands, interruption)
        }
    }

    /// A part of a date.
    private func date(_ name: String, also otherNames: [String] = []) -> FunctionDefinition {
        date(name, also: otherNames, 1...2, [.value(.date), .zone], .int64)
    }

    private func date(
        _ name: String, also otherNames: [String] = [], _ operandCount: ClosedRange<Int>,
        _ parameters: [FunctionDefinition.Parameter], _ result: AttributeType
    ) -> FunctionDefinition {
        FunctionDefinition(
            name, also: otherNames, operandCount, .prescribed(parameters, result), .call(.date)
        ) { [self] operands, _ in calendarValue(operands) }
    }

    /// A search in any number of texts.
    private func search(
        _ name: String, also otherNames: [String] = [], _ result: AttributeType
    ) -> FunctionDefinition {
        FunctionDefinition(
            name, also: otherNames, 2...Limits.functionOperandsMax,
            .prescribed([.value(.string), .searchText], result), .search, nil: .never, searchValue)
    }

    /// A search in one text.
    private func search(
        _ name: String, also otherNames: [String] = [], _ operandCount: ClosedRange<Int>,
        _ others: [FunctionDefinition.Parameter], nil nullability: FunctionDefinition.Nullability
    ) -> FunctionDefinition {
        FunctionDefinition(
            name, also: otherNames, operandCount, .prescribed([.value(.string)] + others, .string),
            .search, nil: nullability, searchValue)
    }
}
