internal import CLarderProto
internal import LarderModel

extension Request {
    /// A `get`, whose parts have no type of their own.
    static func get(_ wire: Larder__V1__GetRequest) throws(LarderError) -> Request {
        let identifiers = try MessageReader.list(
            wire.identifiers, wire.n_identifiers, "identifiers", maximum: Limits.identifiersMax,
            PersistentIdentifier.init)
        let properties = try wire.properties.map { (list) throws(LarderError) -> [String] in
            try MessageReader.texts(
                list.pointee.names, list.pointee.n_names, "names of properties",
                maximum: Limits.propertiesMax, bytesMax: Limits.nameBytesMax)
        }
        return .get(identifiers, properties: properties)
    }
}

extension MessageBytes {
    func get(
        _ identifiers: [PersistentIdentifier], properties: [String]?
    ) throws(LarderError) {
        guard identifiers.count <= Limits.identifiersMax else {
            throw MessageReader.tooMany(
                "identifiers", identifiers.count, maximum: Limits.identifiersMax)
        }
        for object in identifiers { try identifier(1, object) }
        guard let properties else { return }
        try message(2) { for name in properties { present(1, name) } }
    }
}
