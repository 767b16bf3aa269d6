internal import Foundation
package import LarderModel

extension QueryArgument {
    /// The argument for a value of a program.
    ///
    /// - Throws: `wrongType` for a value that no store has.
    package init(of value: Any?) throws(LarderError) {
        if let list = value.flatMap(Self.elements) {
            self = .list(try list.map { (element) throws(LarderError) in try Value(of: element) })
        } else {
            self = .value(try Value(of: value))
        }
    }

    /// The elements of a list; nil for a value that is none.
    static func elements(of value: Any) -> [Any]? {
        switch value {
        case is String: nil
        case let list as NSOrderedSet: list.array
        case let list as [Any]: list
        case let list as Set<AnyHashable>: list.map(\.base)
        default: nil
        }
    }
}

extension Value {
    /// The value of the store for a value of a program: nil, a value of one of the types of
    /// attributes, or an object or its identifier.
    ///
    /// - Throws: `wrongType` for any other value.
    package init(of value: Any?) throws(LarderError) {
        switch value {
        case nil, is NSNull: self = .null
        case let object as any QueriedObject: self = .object(object.queriedIdentifier)
        case let reference as any ObjectReference: self = .object(reference.queriedIdentifier)
        case let convertible as any ValueConvertible: self = convertible.storeValue
        case let number as NSNumber: self = try Self(number)
        case let text as Substring: self = .string(String(text))
        case let text as Character: self = .string(String(text))
        // Objects of Foundation, and what is bridged to them.
        case let text as String: self = .string(text)
        case let date as Date: self = .date(date)
        case let identifier as UUID: self = .uuid(identifier)
        case let url as URL: self = .url(url)
        case let data as Data: self = .data(data)
        case let raw as any RawRepresentable: try self.init(of: raw.rawValue)
        case let other?:
            throw LarderError(
                .wrongType, "a value of the type \(type(of: other)) is not one of a store",
                hint: "pass a number, text, a date, a UUID, a URL, data, an object or its objectID")
        }
        if case .double(let double) = self, double.isNaN { throw Self.notANumber }
        if case .float(let float) = self, float.isNaN { throw Self.notANumber }
    }

    private static let notANumber = LarderError(.wrongType, "NaN is not a value of a store")

    private init(_ number: NSNumber) throws(LarderError) {
        if let decimal = number as? NSDecimalNumber {
            self = .decimal(decimal.decimalValue)
            return
        }
        switch String(cString: number.objCType) {
        case "c": self = .bool(number.boolValue)
        case "f": self = .float(number.floatValue)
        case "d": self = .double(number.doubleValue)
        case "Q":
            let magnitude = number.uint64Value
            self = Int64(exactly: magnitude).map { .int($0) } ?? .decimal(Decimal(magnitude))
        default: self = .int(number.int64Value)
        }
    }

    /// The value as a program has it: a number as an `NSNumber`, which casts to each type of
    /// numbers that can have it, and JSON as dictionaries and arrays. Objects are left to the
    /// caller.
    package var anyValue: Any? {
        switch self {
        case .null: nil
        case .bool(let bool): NSNumber(value: bool)
        case .int(let int): NSNumber(value: int)
        case .float(let float): NSNumber(value: float)
        case .double(let double): NSNumber(value: double)
        case .decimal(let decimal): NSDecimalNumber(decimal: decimal)
        case .string(let string): string
        case .date(let date): date
        case .uuid(let uuid): uuid
        case .url(let url): url
        case .data(let data): data
        case .json(let text):
            (try? JSONSerialization.jsonObject(with: Data(text.utf8), options: .fragmentsAllowed))
                ?? text
        case .object(let identifier): identifier
        case .objects(let identifiers): identifiers
        }
    }
}
