internal import CLarderProto
internal import FoundationEssentials
internal import LarderModel

extension Value {
    init(_ wire: Larder__V1__Value) throws(LarderError) {
        switch wire.kind_case {
        case LARDER__V1__VALUE__KIND_NULL_VALUE: self = .null
        case LARDER__V1__VALUE__KIND_BOOL_VALUE: self = .bool(wire.bool_value != 0)
        case LARDER__V1__VALUE__KIND_INT_VALUE: self = .int(wire.int_value)
        case LARDER__V1__VALUE__KIND_FLOAT_VALUE:
            guard !wire.float_value.isNaN else { throw Value.malformed("a float is NaN") }
            self = .float(wire.float_value)
        case LARDER__V1__VALUE__KIND_DOUBLE_VALUE:
            guard !wire.double_value.isNaN else { throw Value.malformed("a double is NaN") }
            self = .double(wire.double_value)
        case LARDER__V1__VALUE__KIND_DATE_VALUE:
            guard wire.date_value.isFinite else { throw Value.malformed("a date is not finite") }
            self = .date(Date(timeIntervalSinceReferenceDate: wire.date_value))
        case LARDER__V1__VALUE__KIND_UUID_VALUE:
            self = .uuid(try UUID(wire.uuid_value.bytes, "a UUID value"))
        case LARDER__V1__VALUE__KIND_DATA_VALUE: self = .data(Data(wire.data_value.bytes))
        case LARDER__V1__VALUE__KIND_OBJECT_VALUE:
            guard let object = wire.object_value else {
                throw MessageReader.malformed("an object value has no identifier")
            }
            self = .object(try PersistentIdentifier(object.pointee))
        case LARDER__V1__VALUE__KIND_OBJECTS_VALUE:
            guard let objects = wire.objects_value?.pointee else {
                throw MessageReader.malformed("an objects value has no identifiers")
            }
            self = .objects(
                try MessageReader.list(
                    objects.items, objects.n_items, "identifiers of a value",
                    maximum: Limits.identifiersMax, PersistentIdentifier.init))
        default: self = try Value(text: wire)
        }
    }

    /// The kinds that travel as text.
    private init(text wire: Larder__V1__Value) throws(LarderError) {
        switch wire.kind_case {
        case LARDER__V1__VALUE__KIND_STRING_VALUE:
            self = .string(try wire.string_value.text("a string value"))
        case LARDER__V1__VALUE__KIND_JSON_VALUE:
            self = try .json(checking: wire.json_value.text("a JSON value"))
        case LARDER__V1__VALUE__KIND_DECIMAL_VALUE:
            let text = try wire.decimal_value.text("a decimal value")
            guard let decimal = Decimal(exactly: text) else {
                throw Value.malformed("a decimal value is not a decimal number")
            }
            self = .decimal(decimal)
        case LARDER__V1__VALUE__KIND_URL_VALUE:
            let text = try wire.url_value.text("a URL value")
            guard let url = URL(string: text, encodingInvalidCharacters: false) else {
                throw Value.malformed("a URL value is not a URL")
            }
            self = .url(url)
        default:
            throw MessageReader.malformed("a value has no kind that is known")
        }
    }

    static func malformed(_ message: String) -> LarderError {
        LarderError(.malformedValue, message)
    }
}

extension MessageWriter {
    func value(_ value: Value) throws(LarderError) -> UnsafeMutablePointer<Larder__V1__Value> {
        let wire = make(larder__v1__value__init)
        switch value {
        case .null:
            wire.pointee.kind_case = LARDER__V1__VALUE__KIND_NULL_VALUE
            wire.pointee.null_value = 1
        case .bool(let bool):
            wire.pointee.kind_case = LARDER__V1__VALUE__KIND_BOOL_VALUE
            wire.pointee.bool_value = bool ? 1 : 0
        case .int(let int):
            wire.pointee.kind_case = LARDER__V1__VALUE__KIND_INT_VALUE
            wire.pointee.int_value = int
        case .float(let float):
            guard !float.isNaN else { throw Value.malformed("a float is NaN") }
            wire.pointee.kind_case = LARDER__V1__VALUE__KIND_FLOAT_VALUE
            wire.pointee.float_value = float
        case .double(let double):
            guard !double.isNaN else { throw Value.malformed("a double is NaN") }
            wire.pointee.kind_case = LARDER__V1__VALUE__KIND_DOUBLE_VALUE
            wire.pointee.double_value = double
        case .date(let date):
            let seconds = date.timeIntervalSinceReferenceDate
            guard seconds.isFinite else { throw Value.malformed("a date is not finite") }
            wire.pointee.kind_case = LARDER__V1__VALUE__KIND_DATE_VALUE
            wire.pointee.date_value = seconds
        case .object(let identifier):
            wire.pointee.kind_case = LARDER__V1__VALUE__KIND_OBJECT_VALUE
            wire.pointee.object_value = self.identifier(identifier)
        case .objects(let identifiers):
            let objects = make(larder__v1__identifiers__init)
            objects.pointee.n_items = identifiers.count
            objects.pointee.items = try list(identifiers, identifier)
            wire.pointee.kind_case = LARDER__V1__VALUE__KIND_OBJECTS_VALUE
            wire.pointee.objects_value = objects
        case .decimal, .string, .uuid, .url, .data, .json:
            try fill(wire, bytes: value)
        }
        return wire
    }

    /// The kinds that travel as bytes or text.
    private func fill(
        _ wire: UnsafeMutablePointer<Larder__V1__Value>, bytes value: Value
    ) throws(LarderError) {
        switch value {
        case .decimal(let decimal):
            guard !decimal.isNaN else { throw Value.malformed("a decimal is NaN") }
            wire.pointee.kind_case = LARDER__V1__VALUE__KIND_DECIMAL_VALUE
            wire.pointee.decimal_value = text(decimal.description)
        case .string(let string):
            wire.pointee.kind_case = LARDER__V1__VALUE__KIND_STRING_VALUE
            wire.pointee.string_value = text(string)
        case .uuid(let uuid):
            wire.pointee.kind_case = LARDER__V1__VALUE__KIND_UUID_VALUE
            wire.pointee.uuid_value = self.uuid(uuid)
        case .url(let url):
            wire.pointee.kind_case = LARDER__V1__VALUE__KIND_URL_VALUE
            wire.pointee.url_value = text(url.absoluteString)
        case .data(let data):
            wire.pointee.kind_case = LARDER__V1__VALUE__KIND_DATA_VALUE
            wire.pointee.data_value = data.withUnsafeBytes { copy($0) }
        case .json(let json):
            wire.pointee.kind_case = LARDER__V1__VALUE__KIND_JSON_VALUE
            wire.pointee.json_value = text(json)
        case .null, .bool, .int, .float, .double, .date, .object, .objects:
            preconditionFailure("this kind does not travel as bytes")
        }
    }

    func identifier(
        _ identifier: PersistentIdentifier
    ) -> UnsafeMutablePointer<Larder__V1__Identifier> {
        let wire = make(larder__v1__identifier__init)
        wire.pointee.entity = text(identifier.entityName)
        if let store = identifier.store { wire.pointee.store = uuid(store) }
        switch identifier.key {
        case .permanent(let key):
            wire.pointee.name_case = LARDER__V1__IDENTIFIER__NAME_KEY
            wire.pointee.key = key
        case .temporary(let name):
            wire.pointee.name_case = LARDER__V1__IDENTIFIER__NAME_TEMPORARY_NAME
            wire.pointee.temporary_name = text(name)
        }
        return wire
    }
}
