import CLarderProto
import FoundationEssentials
import LarderModel

@testable import LarderWire

// How the tests decode with protobuf-c what the library decodes by hand.

extension Value {
    init(_ wire: Larder__V1__Value) throws(LarderError) {
        switch wire.kind_case {
        case LARDER__V1__VALUE__KIND_NULL_VALUE: self = .null
        case LARDER__V1__VALUE__KIND_BOOL_VALUE: self = .bool(wire.bool_value != 0)
        case LARDER__V1__VALUE__KIND_INT_VALUE: self = .int(wire.int_value)
        case LARDER__V1__VALUE__KIND_FLOAT_VALUE:
            guard !wire.float_value.isNaN else { throw .malformedValue("a float is NaN") }
            self = .float(wire.float_value)
        case LARDER__V1__VALUE__KIND_DOUBLE_VALUE:
            guard !wire.double_value.isNaN else { throw .malformedValue("a double is NaN") }
            self = .double(wire.double_value)
        case LARDER__V1__VALUE__KIND_DATE_VALUE:
            guard wire.date_value.isFinite else { throw .malformedValue("a date is not finite") }
            self = .date(Date(timeIntervalSinceReferenceDate: wire.date_value))
        case LARDER__V1__VALUE__KIND_UUID_VALUE:
            self = .uuid(try wire.uuid_value.bytes.uuid("a UUID value"))
        case LARDER__V1__VALUE__KIND_DATA_VALUE: self = .data(wire.data_value.bytes.data)
        case LARDER__V1__VALUE__KIND_OBJECT_VALUE:
            guard let object = wire.object_value else {
                throw .malformed("an object value has no identifier")
            }
            self = .object(try PersistentIdentifier(object.pointee))
        case LARDER__V1__VALUE__KIND_OBJECTS_VALUE:
            guard let objects = wire.objects_value?.pointee else {
                throw .malformed("an objects value has no identifiers")
            }
            self = .objects(
                try ProtobufReader.list(
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
                throw .malformedValue("a decimal value is not a decimal number")
            }
            self = .decimal(decimal)
        case LARDER__V1__VALUE__KIND_URL_VALUE:
            let text = try wire.url_value.text("a URL value")
            guard let url = URL(string: text, encodingInvalidCharacters: false) else {
                throw .malformedValue("a URL value is not a URL")
            }
            self = .url(url)
        default:
            throw .malformed("a value has no kind that is known")
        }
    }
}

extension PersistentIdentifier {
    init(_ wire: Larder__V1__Identifier) throws(LarderError) {
        let entityName = try wire.entity.name("the entity of an identifier")
        switch wire.name_case {
        case LARDER__V1__IDENTIFIER__NAME_KEY:
            guard wire.key > 0 else {
                throw LarderError(.malformedIdentifier, "the key of an identifier is less than 1")
            }
            let store = try wire.store.bytes.uuid("the store of an identifier")
            self.init(store: store, entityName: entityName, key: wire.key)
        case LARDER__V1__IDENTIFIER__NAME_TEMPORARY_NAME:
            guard wire.store.bytes.isEmpty else {
                throw LarderError(.malformedIdentifier, "the temporary identifier names a store")
            }
            let name = try wire.temporary_name.name("the name of a temporary identifier")
            self.init(temporary: name, entityName: entityName)
        default:
            throw LarderError(.malformedIdentifier, "the identifier has no name")
        }
    }
}
