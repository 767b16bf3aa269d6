import LarderModel

/// Writes a resolved query as SQL of a ``SQLDialect``, for all parameters that answer its questions
/// in the same way.
///
/// SQL has a third truth value and Swift has not. Therefore every predicate is written in one of
/// two forms: positive, where SQL's true means true, and false and unknown mean false; or negated,
/// where SQL's true means that the predicate is not true. Negation is pushed down to single
/// comparisons, which handle nil. Indexes can serve the positive parts.
///
/// - `SQLWriter+Predicate.swift` and `…+Comparison.swift` write predicates,
/// - `SQLWriter+Operand.swift` and `…+Function.swift` write operands,
/// - `SQLWriter+Query.swift` and `…+Groups.swift` write clauses and statements.
package struct SQLWriter {
    package let parameters: QueryParameters
    package let converter: ValueConverter
    /// Whether the next predicate is a condition of the whole statement, and no other condition
    /// selects few rows: see ``keyList(_:having:)``.
    var prefersKeyList = false
    /// Whether the database groups, instead of the hash table: SQLite by sorting.
    let sortsGroups: Bool
    /// While clauses over groups are written: the group table's column of each operand.
    var groupColumns: [PlanOperand: Int] = [:]
    /// While a statement is written that begins at an index of words: its search.
    var rankedSearch: RankedSearch?
    /// Whether a search for words compares texts although an index could decide it.
    var comparesWords = false
    package private(set) var conditions: [(question: ParameterQuestion, answer: Bool)] = []
    /// The answers of ``conditions``, because a query may have thousands.
    private var answers: [ParameterQuestion: Bool] = [:]

    package init(
        _ parameters: QueryParameters, _ converter: ValueConverter, sortsGroups: Bool = false
    ) {
        self.parameters = parameters
        self.converter = converter
        self.sortsGroups = sortsGroups || converter.dialect == .postgres
    }

    var dialect: SQLDialect { converter.dialect }

    /// Answers a question for the parameters, and records that the text depends on the answer.
    package mutating func ask(_ question: ParameterQuestion) throws(LarderError) -> Bool {
        if let known = answers[question] { return known }
        let answer = try question.answer(parameters, converter)
        if question.isOpen {
            conditions.append((question, answer))
            answers[question] = answer
        }
        return answer
    }

    package mutating func isNil(_ operand: PlanOperand) throws(LarderError) -> Bool {
        guard case .value(let value) = operand else { return false }
        return try ask(.isNil(value))
    }

    mutating func isAnyNil(_ operands: [PlanOperand]) throws(LarderError) -> Bool {
        for operand in operands where try isNil(operand) { return true }
        return false
    }
}
