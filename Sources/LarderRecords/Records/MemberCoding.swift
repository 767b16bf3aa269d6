import FoundationEssentials

/// How a member of a record becomes a property of the schema and a value of the store, and back.
public struct MemberCoding<Member: Sendable>: Sendable {
    let kind: PropertyKind
    /// The member for a value; nil if the value is not one of its type.
    let decode: @Sendable (Value) -> Member?
    let encode: @Sendable (Member) throws(LarderError) -> Value
}

/// The kind of a property in the schema.
enum PropertyKind: Sendable {
    case attribute(AttributeType, isOptional: Bool)
    case relationship(any EntityRecord.Type, isToMany: Bool, isOptional: Bool)
}

/// The codings of the types that a member can have. Which one applies to a type is decided by the
/// compiler: an attribute value, then a raw value, then `Codable` as JSON.
public enum MemberCodings {
    /// An attribute type, or an optional of one.
    public static func coding<Member: AttributeValue>(
        of type: Member.Type
    ) -> MemberCoding<Member> {
        MemberCoding(kind: .attribute(Member.attributeType, isOptional: Member.isOptional)) {
            Member(storeValue: $0)
        } encode: { member throws(LarderError) in
            member.storeValue
        }
    }

    /// An enum by its raw values.
    @_disfavoredOverload
    public static func coding<Member: RawRepresentable & Sendable>(
        of type: Member.Type
    ) -> MemberCoding<Member> where Member.RawValue: AttributeValue {
        MemberCoding(kind: .attribute(Member.RawValue.attributeType, isOptional: false)) {
            Member.RawValue(storeValue: $0).flatMap { Member(rawValue: $0) }
        } encode: { member throws(LarderError) in
            member.rawValue.storeValue
        }
    }

    /// An optional enum by its raw values.
    @_disfavoredOverload
    public static func coding<Member: RawRepresentable & Sendable>(
        of type: Member?.Type
    ) -> MemberCoding<Member?> where Member.RawValue: AttributeValue {
        optional(coding(of: Member.self))
    }

    /// An enum by its raw values although it is also `Codable`.
    @_disfavoredOverload
    public static func coding<Member: RawRepresentable & Codable & Sendable>(
        of type: Member.Type
    ) -> MemberCoding<Member> where Member.RawValue: AttributeValue {
        rawCoding(of: type)
    }

    /// An optional enum by its raw values although it is also `Codable`.
    @_disfavoredOverload
    public static func coding<Member: RawRepresentable & Codable & Sendable>(
        of type: Member?.Type
    ) -> MemberCoding<Member?> where Member.RawValue: AttributeValue {
        optional(rawCoding(of: Member.self))
    }

    /// Any other `Codable` type, as a JSON document.
    @_disfavoredOverload
    public static func coding<Member: Codable & Sendable>(
        of type: Member.Type
    ) -> MemberCoding<Member> {
        MemberCoding(kind: .attribute(.json, isOptional: false)) { value in
            guard case .json(let text) = value else { return nil }
            return try? JSONDecoder().decode(Member.self, from: Data(text.utf8))
        } encode: { member throws(LarderError) in
            try .json(encoding: member)
        }
    }

    /// An optional `Codable` type, as a JSON document.
    @_disfavoredOverload
    public static func coding<Member: Codable & Sendable>(
        of type: Member?.Type
    ) -> MemberCoding<Member?> {
        optional(coding(of: Member.self))
    }

    /// A to-one relationship that always has an object.
    public static func coding<Target: EntityRecord>(
        of type: Ref<Target>.Type
    ) -> MemberCoding<Ref<Target>> {
        MemberCoding(kind: .relationship(Target.self, isToMany: false, isOptional: false)) {
            guard case .object(let identifier) = $0 else { return nil }
            return Ref(identifier)
        } encode: { member throws(LarderError) in
            .object(member.id)
        }
    }

    /// A to-one relationship.
    public static func coding<Target: EntityRecord>(
        of type: Ref<Target>?.Type
    ) -> MemberCoding<Ref<Target>?> {
        optional(coding(of: Ref<Target>.self))
    }

    /// A to-many relationship.
    public static func coding<Target: EntityRecord>(
        of type: [Ref<Target>].Type
    ) -> MemberCoding<[Ref<Target>]> {
        MemberCoding(kind: .relationship(Target.self, isToMany: true, isOptional: true)) {
            guard case .objects(let identifiers) = $0 else { return nil }
            return identifiers.map { Ref($0) }
        } encode: { member throws(LarderError) in
            .objects(member.map(\.id))
        }
    }

    /// Any other type is an error of the compiler, with this message.
    @available(
        *, unavailable,
        message: """
            a property of an entity has an attribute type (Bool, Int, Double, Decimal, String, \
            Date, UUID, URL, Data), is an enum with raw values, is Codable and Sendable, or is a \
            Ref, an optional Ref or an array of Refs
            """
    )
    @_disfavoredOverload
    public static func coding<Member: Sendable>(of type: Member.Type) -> MemberCoding<Member> {
        MemberCoding(kind: .attribute(.json, isOptional: false)) { _ in
            nil
        } encode: { _ throws(LarderError) in
            throw LarderError(.wrongType, "a \(Member.self) cannot be stored")
        }
    }

    private static func rawCoding<Member: RawRepresentable & Sendable>(
        of type: Member.Type
    ) -> MemberCoding<Member> where Member.RawValue: AttributeValue {
        coding(of: type)
    }

    private static func optional<Member: Sendable>(
        _ coding: MemberCoding<Member>
    ) -> MemberCoding<Member?> {
        let kind: PropertyKind =
            switch coding.kind {
            case .attribute(let type, _): .attribute(type, isOptional: true)
            case .relationship(let type, let isToMany, _):
                .relationship(type, isToMany: isToMany, isOptional: true)
            }
        return MemberCoding(kind: kind) { value in
            value.isNull ? .some(nil) : coding.decode(value).map { .some($0) }
        } encode: { member throws(LarderError) in
            guard let member else { return .null }
            return try coding.encode(member)
        }
    }
}
