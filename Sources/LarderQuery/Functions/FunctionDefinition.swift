import LarderModel

/// The definition of a scalar function, apart from its number and its documentation: a row of the
/// table in `ScalarFunction+Definition.swift`.
package final class FunctionDefinition: Sendable {
    /// How the types of a call follow from those of its operands.
    package enum Typing: Sendable {
        /// Operands of these types, of which a call may omit the last ones and repeats the last
        /// one; and the type of the result.
        case prescribed([Parameter], AttributeType)
        /// Numbers of a common type, which is that of the result; two operands may be a date and
        /// seconds, or two dates.
        case numbersOrDates
        /// Numbers of a common type, which is that of the result.
        case numbers
        /// A number, and an integer for its decimal places. The result has the type of the number,
        /// or this one.
        case places(AttributeType?)
        /// Numbers, used as doubles.
        case reals
        /// Numbers, strings or dates of a common type, which is that of the result.
        case ordered
        /// Values of a common type, which is that of the result.
        case common
        /// A predicate, and two values of a common type, which is that of the result.
        case conditional
    }

    /// An operand of a prescribed type.
    package enum Parameter: Sendable {
        case value(AttributeType)
        /// The name of a unit of a calendar.
        case unit
        /// The name of a time zone.
        case zone
        /// The text of a search, which must be a value of the query.
        case searchText

        var type: AttributeType {
            if case .value(let type) = self { type } else { .string }
        }

        var checkedOperand: CheckedOperand? {
            switch self {
            case .value: nil
            case .unit: .unit
            case .zone: .zone
            case .searchText: .searchText
            }
        }
    }

    /// When the result may be nil.
    package enum Nullability: Sendable {
        case never
        /// Only if an operand is nil.
        case ifAnyOperandIsNil
        /// Only if all operands are nil.
        case ifAllOperandsAreNil
        /// Also for other operands, such as 0 as a divisor.
        case always
    }

    /// How a database computes the function. The name of a registered function follows from the
    /// domain and the name.
    package enum Form: Sendable {
        /// The time of the query is a parameter.
        case time
        /// Operators on integers and doubles, which check their range.
        case arithmetic
        /// Operators on integers.
        case bitwise
        /// A registered function of values of this domain.
        case call(Domain)
        /// A registered function of the domain of its first operand.
        case callOfNumber
        case coalesce
        case minimum
        case maximum
        case conditional
        case search
        /// An aggregate function over the elements of a collection: see `TypedJoin`.
        case join
    }

    /// The values for which a function is registered with a database.
    package enum Domain: String, CaseIterable, Sendable {
        case int64, double, decimal, string, date

        package init?(_ type: AttributeType) {
            switch type {
            case .int16, .int32, .int64: self = .int64
            case .float, .double: self = .double
            case .decimal: self = .decimal
            case .string: self = .string
            case .date: self = .date
            case .bool, .uuid, .url, .data, .json: return nil
            }
        }
    }

    /// Computes the function. Nil operands are passed only to functions whose result may then be
    /// another value.
    typealias Body =
        @Sendable (_ operands: [Value], _ interruption: Interruption) throws(LarderError) -> Value

    /// The name in format strings.
    package let name: String
    /// Names in SQL, in programming languages and in Core Data, for hints and format strings.
    let otherNames: [String]
    let coreDataName: String?
    package let operandCount: ClosedRange<Int>
    package let typing: Typing
    package let nullability: Nullability
    package let form: Form
    /// The domains for which the function is registered with a database.
    package let domains: [Domain]
    private let acceptsNil: Bool
    private let body: Body

    init(
        _ name: String, also otherNames: [String] = [], coreData: String? = nil,
        _ operandCount: ClosedRange<Int>, _ typing: Typing, _ form: Form, domains: [Domain]? = nil,
        nil nullability: Nullability = .always, _ body: @escaping Body
    ) {
        self.name = name
        self.otherNames = otherNames
        coreDataName = coreData
        self.operandCount = operandCount
        self.typing = typing
        self.form = form
        if case .call(let domain) = form {
            self.domains = domains ?? [domain]
        } else {
            self.domains = domains ?? []
        }
        self.nullability = nullability
        self.body = body
        acceptsNil =
            switch form {
            case .coalesce, .conditional, .search: true
            case .time, .arithmetic, .bitwise, .call, .callOfNumber, .minimum, .maximum, .join:
                false
            }
    }

    /// Returns the value for operands of the types in the signature, except of `now()`.
    ///
    /// - Throws: as ``ScalarFunction/value(of:now:_:)`` does.
    package func value(
        of operands: [Value], _ interruption: Interruption
    ) throws(LarderError) -> Value {
        guard operandCount.contains(operands.count) else { return .null }
        if !acceptsNil { for operand in operands where operand.isNull { return .null } }
        return try body(operands, interruption)
    }

    /// The parameter at an index of a call; nil for a function that prescribes no types.
    func parameter(at index: Int, of count: Int) -> Parameter? {
        guard case .prescribed(let parameters, _) = typing, let last = parameters.last else {
            return nil
        }
        // The last parameter of a call with any number of operands is that of its last operand.
        if operandCount.upperBound > parameters.count {
            return index == count - 1 ? last : parameters[0]
        }
        return index < parameters.count ? parameters[index] : last
    }
}
