internal import CLarderProto
internal import LarderModel

extension ProtobufWriter {
    /// The message `SchemaReply`.
    func schema(_ json: String) -> UnsafeMutablePointer<Larder__V1__SchemaReply> {
        let wire = make(larder__v1__schema_reply__init)
        wire.pointee.json = text(json)
        return wire
    }
}
