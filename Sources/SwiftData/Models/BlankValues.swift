internal import LarderModel
internal import Synchronization

/// Values for objects that have none, such as one that does not exist any more, so that reading a
/// property never ends the process.
enum BlankValues {
    /// A value of each type that has been stored or read, for types of which no value can be made.
    private static let seen = Mutex<[ObjectIdentifier: Seen]>([:])

    /// Sendable unchecked: a value of a model's attribute, which is copied when it is read.
    private struct Seen: @unchecked Sendable { let value: Any }

    static func remember<Member>(_ member: Member) {
        seen.withLock { seen in
            let key = ObjectIdentifier(Member.self)
            if seen[key] == nil { seen[key] = Seen(value: member) }
        }
    }

    /// Nil as a value of a type, if the type is an optional.
    static func none<Member>(_ type: Member.Type) -> Member? {
        (type as? any ExpressibleByNilLiteral.Type)?.init(nilLiteral: ()) as? Member
    }

    static func value<Member>(of property: ModelProperty) -> Member {
        if let none = none(Member.self) { return none }
        if let blank = property.blank() as? Member { return blank }
        let known = seen.withLock { $0[ObjectIdentifier(Member.self)] }
        guard let value = known?.value as? Member else {
            preconditionFailure(
                "\(Member.self) has no value for \(property.name): make the type CaseIterable, "
                    + "or give the property a default value")
        }
        return value
    }
}
