/// The table `_list(elements)` with the elements of a list in `element`, for lists that are too
/// long to be parameters one by one.
///
/// The elements are one blob: their number, for each the end of its bytes, and the bytes of all, of
/// which an element's first one is its type. The number and the ends have four bytes.
package enum ListTable {
    package static let table = "_list"
    package static let column = "element"

    /// The first byte of an element.
    package enum Form: UInt8 {
        case integer, real, text, blob
    }

    package static let numberBytes = 4

    /// - Returns: nil if the elements have more bytes than the values of a statement may have.
    static func encoded(_ elements: [SQLValue]) -> [UInt8]? {
        let headerBytes = numberBytes * (1 + elements.count)
        var byteCount = headerBytes
        for element in elements { byteCount += 1 + contentBytes(of: element) }
        guard byteCount <= SQLTemplate.valueBytesMax else { return nil }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(byteCount)
        append(UInt32(clamping: elements.count), to: &bytes)
        var end = headerBytes
        for element in elements {
            end += 1 + contentBytes(of: element)
            append(UInt32(clamping: end), to: &bytes)
        }
        for element in elements { append(element, to: &bytes) }
        return bytes
    }

    private static func contentBytes(of element: SQLValue) -> Int {
        switch element {
        case .null: 0
        case .integer, .real: 8
        case .text(let text): text.utf8.count
        case .blob(let blob): blob.count
        }
    }

    private static func append(_ element: SQLValue, to bytes: inout [UInt8]) {
        switch element {
        case .null: preconditionFailure("nil is not an element of a table")
        case .integer(let integer):
            bytes.append(Form.integer.rawValue)
            append(UInt64(bitPattern: integer), to: &bytes)
        case .real(let real):
            bytes.append(Form.real.rawValue)
            append(real.bitPattern, to: &bytes)
        case .text(let text):
            bytes.append(Form.text.rawValue)
            bytes += text.utf8
        case .blob(let blob):
            bytes.append(Form.blob.rawValue)
            bytes += blob
        }
    }

    private static func append<Number: FixedWidthInteger>(
        _ number: Number, to bytes: inout [UInt8]
    ) {
        withUnsafeBytes(of: number) { bytes += $0 }
    }
}
