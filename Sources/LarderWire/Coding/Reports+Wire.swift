internal import CLarderProto
internal import LarderModel

// What a store says about itself: the plan of a query, its schema, its figures, its soundness.

extension Explanation {
    init(_ wire: Larder__V1__ExplainReply) throws(LarderError) {
        self.init(
            plan: try wire.plan.text("a plan"), sql: try wire.sql.text("a plan's SQL"),
            steps: try MessageReader.texts(
                wire.steps, wire.n_steps, "steps of a plan", maximum: Explanation.linesMax),
            warnings: try MessageReader.texts(
                wire.warnings, wire.n_warnings, "warnings of a plan", maximum: Explanation.linesMax)
        )
    }

    private static let linesMax = 65_536
}

extension Statistic {
    init(_ wire: Larder__V1__Figure) throws(LarderError) {
        guard let value = wire.value else { throw MessageReader.malformed("a figure has no value") }
        self.init(try wire.name.text("a figure's name"), try Value(value.pointee))
    }

    static func list(
        _ wire: Larder__V1__StatisticsReply
    ) throws(LarderError) -> [Statistic] {
        try MessageReader.list(
            wire.figures, wire.n_figures, "figures", maximum: Statistic.countMax, Statistic.init)
    }

    private static let countMax = 65_536
}

extension CheckReport {
    init(_ wire: Larder__V1__CheckReply) throws(LarderError) {
        self.init(
            findings: try MessageReader.list(
                wire.findings, wire.n_findings, "findings", maximum: CheckReport.findingsMax,
                CheckFinding.init),
            isCut: wire.cut != 0)
    }
}

extension CheckFinding {
    init(_ wire: Larder__V1__Finding) throws(LarderError) {
        let uri = try wire.uri.text("a finding's URI")
        self.init(
            place: try wire.place.text("a finding's place"), uri: uri.isEmpty ? nil : uri,
            message: try wire.message.text("a finding's sentence"))
    }
}

extension MessageWriter {
    func checked(
        _ report: CheckReport
    ) throws(LarderError) -> UnsafeMutablePointer<Larder__V1__CheckReply> {
        let wire = make(larder__v1__check_reply__init)
        wire.pointee.n_findings = report.findings.count
        wire.pointee.findings = try list(report.findings) { finding in
            let item = make(larder__v1__finding__init)
            item.pointee.place = text(finding.place)
            item.pointee.uri = text(finding.uri ?? "")
            item.pointee.message = text(finding.message)
            return item
        }
        wire.pointee.cut = report.isCut ? 1 : 0
        return wire
    }

    func explained(
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

    func schema(_ json: String) -> UnsafeMutablePointer<Larder__V1__SchemaReply> {
        let wire = make(larder__v1__schema_reply__init)
        wire.pointee.json = text(json)
        return wire
    }

    func statistics(
        _ statistics: [Statistic]
    ) throws(LarderError) -> UnsafeMutablePointer<Larder__V1__StatisticsReply> {
        let wire = make(larder__v1__statistics_reply__init)
        wire.pointee.n_figures = statistics.count
        wire.pointee.figures = try list(statistics) {
            (statistic) throws(LarderError) -> UnsafeMutablePointer<Larder__V1__Figure> in
            let item = make(larder__v1__figure__init)
            item.pointee.name = text(statistic.name)
            item.pointee.value = try value(statistic.value)
            return item
        }
        return wire
    }
}
