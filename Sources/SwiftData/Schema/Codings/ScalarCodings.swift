internal import Foundation
internal import LarderModel

/// The types whose values the store has as they are.
enum ScalarCodings {
    static func coding(of type: any Any.Type) -> AttributeCoding? {
        codings[ObjectIdentifier(type)]
    }

    private static let codings: [ObjectIdentifier: AttributeCoding] = {
        let codings: [AttributeCoding] = [
            scalar(Bool.self, false), scalar(Int.self, 0), scalar(Int16.self, 0),
            scalar(Int32.self, 0), scalar(Int64.self, 0), scalar(Float.self, 0),
            scalar(Double.self, 0), scalar(Decimal.self, 0), scalar(String.self, ""),
            scalar(Date.self, Date(timeIntervalSinceReferenceDate: 0)),
            scalar(UUID.self, UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))),
            scalar(URL.self, URL(filePath: "/")), scalar(Data.self, Data()),
            widened(Int8.self, .int16), widened(UInt8.self, .int16), widened(UInt16.self, .int32),
            widened(UInt32.self, .int64), unsigned(UInt.self), unsigned(UInt64.self),
            floating,
        ]
        return Dictionary(
            codings.map { (ObjectIdentifier($0.swiftType), $0) },
            uniquingKeysWith: { first, _ in first })
    }()

    private static func scalar<Scalar: AttributeValue>(
        _ type: Scalar.Type, _ blank: Scalar
    ) -> AttributeCoding {
        AttributeCoding(Scalar.attributeType, .scalar, of: Scalar.self) { value in
            value.storeValue
        } decode: { value in
            Scalar(storeValue: value)
        } blank: {
            blank
        }
    }

    /// An integer that a larger type of the store holds.
    private static func widened<Integer: FixedWidthInteger & Sendable>(
        _ type: Integer.Type, _ stored: LarderModel.AttributeType
    ) -> AttributeCoding {
        AttributeCoding(stored, .scalar, of: Integer.self) { value in
            .int(Int64(value))
        } decode: { value in
            guard case .int(let integer) = value else { return nil }
            return Integer(exactly: integer)
        } blank: {
            0
        }
    }

    /// An integer that no integer of the store holds. Decimals have its order.
    private static func unsigned<Integer: FixedWidthInteger & UnsignedInteger & Sendable>(
        _ type: Integer.Type
    ) -> AttributeCoding {
        AttributeCoding(.decimal, .scalar, of: Integer.self) { value in
            .decimal(Decimal(UInt64(value)))
        } decode: { value in
            switch value {
            case .int(let integer): return Integer(exactly: integer)
            case .decimal(let decimal): return Integer(decimal.description)
            default: return nil
            }
        } blank: {
            0
        }
    }

    private static var floating: AttributeCoding {
        AttributeCoding(.double, .scalar, of: CGFloat.self) { value in
            .double(Double(value))
        } decode: { value in
            Double(storeValue: value).map { CGFloat($0) }
        } blank: {
            0
        }
    }
}
