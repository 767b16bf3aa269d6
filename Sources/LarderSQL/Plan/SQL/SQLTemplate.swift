import FoundationEssentials
import LarderModel

/// The statements of a query, with the conditions on its parameters under which they are right.
package struct SQLTemplate: Sendable {
    /// They are run one after the other.
    package var statements: [SQL]
    /// The questions about the parameters that the writer asked, with their answers. The statements
    /// are right for all parameters with the same answers.
    package var conditions: [(question: ParameterQuestion, answer: Bool)]
    /// How the query is read by several connections; the statements are then those of that. nil if
    /// the statements are those of one connection.
    package var division: Division?

    package enum Division: Hashable, Sendable {
        /// It cannot be, and there are no statements.
        case none
        /// The first statement adds the rows of a range of keys to groups, and the last one reads
        /// the result from the groups.
        case groups(GroupForm)
        /// The first statement returns the keys of the objects of a range, and the last one reads
        /// the objects with the keys of all.
        case keys
        /// As ``keys``, for the first objects of an order: a range returns no more than the result
        /// has, or precede it.
        case firstKeys
    }

    /// Roughly the memory that it takes.
    package var byteCount: Int {
        let texts = statements.reduce(0) { count, sql in
            count + sql.text.utf8.count
                + sql.parameters.count * (MemoryLayout<SQLParameter>.stride + Self.valueBytes)
        }
        return texts + conditions.count * (Self.conditionBytes + Self.valueBytes)
    }

    private static let conditionBytes = MemoryLayout<(ParameterQuestion, Bool)>.stride
    /// A ``TypedValue`` with its name.
    private static let valueBytes = 128

    package func serves(
        _ parameters: QueryParameters, _ converter: ValueConverter
    ) throws(LarderError) -> Bool {
        for condition in conditions {
            let answer = try condition.question.answer(parameters, converter)
            guard answer == condition.answer else { return false }
        }
        return true
    }

    /// The statements with their parameters computed.
    package func filled(
        _ parameters: QueryParameters, _ converter: ValueConverter
    ) throws(LarderError) -> [SQL] {
        var filled: [SQL] = []
        var bytesLeft = Self.valueBytesMax
        // The whole query has one time.
        var now: SQLValue?
        for statement in statements {
            var values: [SQLParameter] = []
            values.reserveCapacity(statement.parameters.count)
            for parameter in statement.parameters {
                switch parameter {
                case .elements(let list, let options, let count):
                    values += try SQLParameter.elements(
                        of: list, options, count, parameters, converter
                    ).map { parameter.known($0, converter.dialect) }
                case .now:
                    let time = now ?? .real(converter.clock().timeIntervalSinceReferenceDate)
                    now = time
                    values.append(parameter.known(time, converter.dialect))
                case .key, .firstKey, .lastKey: values.append(parameter)
                default: values.append(try parameter.filled(parameters, converter))
                }
            }
            for value in values { bytesLeft -= value.byteCount }
            guard bytesLeft >= 0 else { throw Self.tooManyBytes }
            filled.append(statement.with(values))
        }
        return filled
    }

    /// SQLite copies each value for each use.
    package static let valueBytesMax = 32 << 20

    static let tooManyBytes = LarderError(
        .resourceExhausted,
        "the values of the query, as often as it uses them, have more than "
            + "\(valueBytesMax >> 20) MiB",
        hint: "use long values less often, or split the query")
}
