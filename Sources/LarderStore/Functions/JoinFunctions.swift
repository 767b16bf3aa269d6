import LarderModel
import LarderQuery
import LarderSQL

extension JoinFunctions {
    static func register(
        on connection: Connection, _ problems: FunctionFaults
    ) throws(SQLError) {
        let interruption = connection.limit.interruption
        for count: Int32 in [2, 4] {
            try connection.registerAggregate(name: join, argumentCount: count) {
                Join(problems, interruption)
            }
        }
    }
}

private final class Join: Aggregation {
    private let problems: FunctionFaults
    private let interruption: Interruption
    private var texts = JoinedTexts()
    /// That of the first text; all have the same.
    private var separator: String?

    init(_ problems: FunctionFaults, _ interruption: Interruption) {
        self.problems = problems
        self.interruption = interruption
    }

    func step(_ arguments: FunctionArguments) {
        guard !arguments[0].isNull, !arguments[1].isNull else { return }
        if separator == nil { separator = arguments[1].string }
        let position: JoinedTexts.Position? =
            arguments.count == 4
            ? JoinedTexts.Position(arguments[2].int64, key: arguments[3].int64) : nil
        texts.add(arguments[0].string, at: position)
    }

    func finish() -> FunctionResult {
        guard let separator else { return .null }
        do throws(LarderError) {
            return try texts.text(separatedBy: separator, interruption).map { .text($0) } ?? .null
        } catch {
            return problems.report(error)
        }
    }
}
