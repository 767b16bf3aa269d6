internal import CLarderProto
internal import LarderModel

// The message `ExplainReply`.

extension Explanation {
    init(_ wire: Larder__V1__ExplainReply) throws(LarderError) {
        self.init(
            plan: try wire.plan.text("the plan"), sql: try wire.sql.text("the SQL of a plan"),
            steps: try ProtobufReader.texts(
                wire.steps, wire.n_steps, "steps of a plan", maximum: Explanation.linesMax),
            warnings: try ProtobufReader.texts(
                wire.warnings, wire.n_warnings, "warnings of a plan", maximum: Explanation.linesMax)
        )
    }

    private static let linesMax = 65_536
}

extension ProtobufWriter {
    func explanation(
        _ explanation: Explanation
    ) -> UnsafeMutablePointer<Larder__V1__ExplainReply> {
        let wire = make(larder__v1__explain_reply__init)
        wire.pointee.plan = text(explanation.plan)
        wire.pointee.sql = text(explanation.sql)
        wire.pointee.n_steps = explanation.steps.count
        wire.pointee.steps = texts(explanation.steps)
        wire.pointee.n_warnings = explanation.warnings.count
        wire.pointee.warnings = texts(explanation.warnings)
        return wire
    }
}
