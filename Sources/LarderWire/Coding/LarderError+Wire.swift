internal import CLarderProto
internal import LarderModel

extension LarderError {
    init(_ wire: Larder__V1__ErrorReply) throws(LarderError) {
        let hint = try wire.hint.text("an error's hint")
        let uri = try wire.uri.text("an error's URI")
        self.init(
            ErrorCode(wireNumber: wire.code),
            try wire.message.text("an error's message"),
            hint: hint.isEmpty ? nil : hint,
            column: wire.column == 0 ? nil : Int(wire.column),
            uri: uri.isEmpty ? nil : uri,
            faults: try MessageReader.texts(
                wire.faults, wire.n_faults, "faults of an error", maximum: Limits.changesMax),
            details: try MessageReader.list(
                wire.details, wire.n_details, "faults of an error", maximum: Limits.changesMax,
                ChangeFault.init))
    }
}

extension ErrorCode {
    /// A number that a newer server made up means what its hundred means.
    init(wireNumber number: UInt32) {
        if let code = ErrorCode(rawValue: number) {
            self = code
            return
        }
        switch number / 100 {
        case 2: self = .objectNotFound
        case 3: self = .unsupported
        case 4: self = .versionConflict
        case 5: self = .resourceExhausted
        case 6: self = .unavailable
        case 8: self = .storageFailed
        default: self = .malformedMessage
        }
    }
}

extension MessageWriter {
    func failed(
        _ error: LarderError
    ) throws(LarderError) -> UnsafeMutablePointer<Larder__V1__ErrorReply> {
        let wire = make(larder__v1__error_reply__init)
        wire.pointee.code = error.code.rawValue
        wire.pointee.message = text(error.message)
        wire.pointee.hint = text(error.hint ?? "")
        wire.pointee.column = UInt32(clamping: error.column ?? 0)
        wire.pointee.uri = text(error.uri ?? "")
        wire.pointee.n_faults = error.faults.count
        wire.pointee.faults = texts(error.faults)
        wire.pointee.n_details = error.details.count
        wire.pointee.details = try list(error.details, fault)
        return wire
    }
}
