internal import Foundation

/// The conversion of a value by a registered transformer.
struct Transformation {
    private let transformer: ValueTransformer

    init(name: String) throws {
        let registered = ValueTransformer.transformer(forName: NSValueTransformerName(name))
        if let registered {
            transformer = registered
        } else if name == NSValueTransformerName.secureUnarchiveFromDataTransformerName.rawValue
            || name.isEmpty
        {
            transformer = NSSecureUnarchiveFromDataTransformer()
        } else {
            throw TransformationError.unknown(name)
        }
    }

    func data(for value: Any) throws -> Data {
        let result =
            transformer is NSSecureUnarchiveFromDataTransformer
            ? transformer.reverseTransformedValue(value) : transformer.transformedValue(value)
        switch result {
        case let data as Data: return data
        case let data as NSData: return Data(referencing: data)
        default: throw TransformationError.noData("\(type(of: transformer))")
        }
    }

    func value(for data: Data) -> Any? {
        transformer is NSSecureUnarchiveFromDataTransformer
            ? transformer.transformedValue(data) : transformer.reverseTransformedValue(data)
    }
}

/// Why a value could not be transformed.
enum TransformationError: Error, CustomStringConvertible {
    case unknown(String)
    case noData(String)

    var description: String {
        switch self {
        case .unknown(let name):
            "no value transformer is registered as `\(name)`; call "
                + "ValueTransformer.setValueTransformer(_:forName:)"
        case .noData(let type): "the value transformer \(type) made no data of a value"
        }
    }
}
