internal import Foundation
package import LarderModel

/// How the values of an attribute's Swift type are stored: as a value of the store, by a raw value,
/// as a JSON document, or as the data that a transformer makes.
///
/// The functions capture types and names only, so they may be called from any thread, as far as the
/// conformances of the types may be used there.
package struct AttributeCoding: @unchecked Sendable {
    package enum Form: Sendable {
        case scalar
        case rawValue
        case json
        case transformed
        /// The type cannot be stored; encoding a value throws.
        case unsupported
    }

    package let type: LarderModel.AttributeType
    package let form: Form
    /// The Swift type, without the optional.
    package let swiftType: any Any.Type
    /// The value of the store for a Swift value. It accepts an optional; nil is `null`.
    package let encode: (Any) throws -> Value
    /// The Swift value for a value of the store, without an optional; nil if it is null or not one
    /// of the type.
    package let decode: (Value) -> Any?
    /// A value of the type for an object that has none; nil if none can be made.
    package let blank: () -> Any?

    /// The coding of a type, which is not an optional.
    package static func coding(
        of type: any Any.Type, _ options: [Schema.Attribute.Option] = []
    ) -> AttributeCoding {
        if let name = options.lazy.compactMap(\.transformerName).first {
            return transformed(type, by: name)
        }
        if let scalar = ScalarCodings.coding(of: type) { return scalar }
        let isCollection = type is any StandardCollection.Type
        // Programs give collections and dates raw values of their own, so that `AppStorage` takes
        // them; that does not change how they are stored.
        if !isCollection, !options.contains(.codable), let raw = type as? any RawRepresentable.Type,
            let coding = rawValue(of: raw)
        {
            return coding
        }
        if let type = type as? any (Decodable & Encodable).Type { return json(type) }
        return unsupported(type)
    }

    /// Whether a constant default of the class can be a constant of the schema. A member such as
    /// `.now` is one only if it is the case of an enum.
    var hasConstantMembers: Bool {
        switch form {
        case .rawValue: true
        case .scalar: ![.date, .uuid, .url, .data, .decimal].contains(type)
        case .json: swiftType is any StandardCollection.Type
        case .transformed, .unsupported: false
        }
    }

    /// Whether the type is a structure whose members are stored with their names.
    var isStructure: Bool {
        guard form == .json, !(swiftType is any StandardCollection.Type) else { return false }
        guard let name = _mangledTypeName(swiftType) else { return false }
        // The name of a generic type does not say whether it is a structure.
        guard name.hasSuffix("G") else { return name.hasSuffix("V") }
        return blank().map { Mirror(reflecting: $0).displayStyle == .struct } ?? false
    }

    /// The coding of a type of which values can be cast to `Wrapped`.
    init<Wrapped>(
        _ type: LarderModel.AttributeType, _ form: Form, of swiftType: Wrapped.Type,
        encode: @escaping (Wrapped) throws -> Value,
        decode: @escaping (Value) -> Wrapped?,
        blank: @escaping () -> Wrapped?
    ) {
        self.type = type
        self.form = form
        self.swiftType = swiftType
        self.encode = { value in
            if let value = value as? Wrapped { return try encode(value) }
            guard let optional = value as? any OptionalType, optional.wrappedValue == nil else {
                throw AttributeCodingError(
                    value: "\(Swift.type(of: value))", type: "\(Wrapped.self)")
            }
            return .null
        }
        self.decode = { value in decode(value) }
        self.blank = { blank() }
    }

    private static func rawValue<Raw: RawRepresentable>(of type: Raw.Type) -> AttributeCoding? {
        let raw = coding(of: Raw.RawValue.self)
        guard raw.form == .scalar || raw.form == .rawValue else { return nil }
        return AttributeCoding(raw.type, .rawValue, of: Raw.self) { value in
            try raw.encode(value.rawValue)
        } decode: { value in
            (raw.decode(value) as? Raw.RawValue).flatMap { Raw(rawValue: $0) }
        } blank: {
            if let value = (type as? any CaseIterable.Type)?.firstCase as? Raw { return value }
            if let value = (raw.blank() as? Raw.RawValue).flatMap({ Raw(rawValue: $0) }) {
                return value
            }
            return TrivialValue.zero(of: Raw.self)
        }
    }

    private static func json<Member: Decodable & Encodable>(
        _ type: Member.Type
    ) -> AttributeCoding {
        AttributeCoding(.json, .json, of: Member.self) { value in
            .json(try JSONText.encode(value))
        } decode: { value in
            guard case .json(let text) = value else { return nil }
            return JSONText.decode(Member.self, from: text)
        } blank: {
            BlankDecoder.value(of: Member.self)
        }
    }

    private static func transformed(_ type: any Any.Type, by name: String) -> AttributeCoding {
        func coding<Member>(_ type: Member.Type) -> AttributeCoding {
            AttributeCoding(.data, .transformed, of: Member.self) { value in
                .data(try Transformation(name: name).data(for: value))
            } decode: { value in
                guard case .data(let data) = value else { return nil }
                return try? Transformation(name: name).value(for: data) as? Member
            } blank: {
                (type as? any Decodable.Type).flatMap { BlankDecoder.anyValue(of: $0) as? Member }
            }
        }
        return _openExistential(type, do: coding)
    }

    private static func unsupported(_ type: any Any.Type) -> AttributeCoding {
        func coding<Member>(_ type: Member.Type) -> AttributeCoding {
            AttributeCoding(.data, .unsupported, of: Member.self) { value in
                throw AttributeCodingError(value: "\(Member.self)", type: nil)
            } decode: { _ in
                nil
            } blank: {
                nil
            }
        }
        return _openExistential(type, do: coding)
    }
}

/// A value that an attribute cannot have.
struct AttributeCodingError: Error, CustomStringConvertible {
    let value: String
    /// The type that the attribute has; nil if values of no type can be stored.
    let type: String?

    var description: String {
        if let type { return "a value of type \(value) is not one of \(type)" }
        return "a value of type \(value) cannot be stored; make the type Codable"
    }
}

/// The collections of the standard library, which are stored as JSON.
protocol StandardCollection {}

extension Array: StandardCollection {}
extension ContiguousArray: StandardCollection {}
extension Set: StandardCollection {}
extension Dictionary: StandardCollection {}

extension CaseIterable {
    fileprivate static var firstCase: Any? { allCases.first }
}
