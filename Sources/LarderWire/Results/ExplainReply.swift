internal import LarderModel

// The message `ExplainReply`, coded by hand because `Value` is.

extension Explanation {
    init(decoding bytes: RawSpan) throws(LarderError) {
        self.init(plan: "", sql: "", steps: [], warnings: [])
        var fields = FieldScanner(bytes)
        for (number, what) in Self.lists {
            _ = try fields.count(of: number, what, maximum: Self.linesMax)
        }
        while let field = try fields.next() {
            switch (field.number, field.content) {
            case (1, .bytes(let bytes)): plan = try bytes.text("the plan")
            case (2, .bytes(let bytes)): sql = try bytes.text("the SQL of a plan")
            case (3, .bytes(let bytes)): steps.append(try bytes.text("a step of a plan"))
            case (4, .bytes(let bytes)): warnings.append(try bytes.text("a warning of a plan"))
            case (5, .bytes(let bytes)): indexes.append(try bytes.text("an index"))
            case (6, .bytes(let bytes)): execution.append(try Statistic(decoding: bytes))
            case (1...6, _): throw .unreadable
            default: break
            }
        }
    }

    private static let lists: [(UInt32, String)] = [
        (3, "steps of a plan"), (4, "warnings of a plan"), (5, "indexes of a plan"),
        (6, "statistics of an execution"),
    ]
    private static let linesMax = 65_536
}

extension MessageBuffer {
    func explanation(_ explanation: Explanation) throws(LarderError) {
        text(1, explanation.plan)
        text(2, explanation.sql)
        for step in explanation.steps { element(3, step) }
        for warning in explanation.warnings { element(4, warning) }
        for index in explanation.indexes { element(5, index) }
        for statistic in explanation.execution {
            try message(6) { () throws(LarderError) in try self.statistic(statistic) }
        }
    }
}
