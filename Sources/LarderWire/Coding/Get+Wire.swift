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

extension MessageWriter {
    func get(
        _ identifiers: [PersistentIdentifier], properties: [String]?
    ) throws(LarderError) -> UnsafeMutablePointer<Larder__V1__GetRequest> {
        guard identifiers.count <= Limits.identifiersMax else {
            throw MessageReader.tooMany(
                "identifiers", identifiers.count, maximum: Limits.identifiersMax)
        }
        let wire = make(larder__v1__get_request__init)
        wire.pointee.n_identifiers = identifiers.count
        wire.pointee.identifiers = try list(identifiers, identifier)
        if let properties {
            let names = make(larder__v1__property_names__init)
            names.pointee.n_names = properties.count
            names.pointee.names = texts(properties)
            wire.pointee.properties = names
        }
        return wire
    }
}
