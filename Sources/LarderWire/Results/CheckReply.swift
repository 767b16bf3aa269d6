internal import CLarderProto
internal import LarderModel

// The messages `CheckReply` and `Finding`.

extension CheckReport {
    init(_ wire: Larder__V1__CheckReply) throws(LarderError) {
        self.init(
            findings: try ProtobufReader.list(
                wire.findings, wire.n_findings, "findings", maximum: CheckReport.findingsMax,
                CheckFinding.init),
            isTruncated: wire.truncated != 0)
    }
}

extension CheckFinding {
    init(_ wire: Larder__V1__Finding) throws(LarderError) {
        let uri = try wire.uri.text("the URI of a finding")
        self.init(
            location: try wire.location.text("the location of a finding"),
            uri: uri.isEmpty ? nil : uri,
            message: try wire.message.text("the message of a finding"))
    }
}

extension ProtobufWriter {
    func checkReport(
        _ report: CheckReport
    ) throws(LarderError) -> UnsafeMutablePointer<Larder__V1__CheckReply> {
        let wire = make(larder__v1__check_reply__init)
        wire.pointee.n_findings = report.findings.count
        wire.pointee.findings = try list(report.findings) { finding in
            let item = make(larder__v1__finding__init)
            item.pointee.location = text(finding.location)
            item.pointee.uri = text(finding.uri ?? "")
            item.pointee.message = text(finding.message)
            return item
        }
        wire.pointee.truncated = report.isTruncated ? 1 : 0
        return wire
    }
}
