import LarderModel

/// The rows that a statement has handed over to ``Connection/rowFunction``, column by column.
///
/// A row that is handed over costs SQLite a third less than one that it stops at, and here little
/// more than what its values are asked for with: the memory is plain, is kept from batch to batch,
/// and becomes arrays only when a batch is complete.
final class HandedRows {
    fileprivate struct Values {
        let form: Column.Form
        /// 8 bytes for each row: an integer or a double; of bytes 4, where they end in `heap`.
        var values: UnsafeMutableRawPointer?
        var heap: UnsafeMutableRawPointer?
        var heapCount = 0
        var heapCapacity = 0
        /// Bit n % 8 of byte n / 8 is set where row n is nil.
        var nulls: [UInt8] = []

        var stride: Int { form == .bytes ? 4 : 8 }
    }

    private let columns: UnsafeMutableBufferPointer<Values>
    private(set) var rowCount = 0
    private var rowCapacity = 0
    /// About what the rows take on the wire, in bytes.
    private(set) var byteCount = 0
    private let rowBytes: Int
    private var bytesMax = Int.max
    private unowned(unsafe) var next: HandedRows?

    /// - Parameter forms: of the values that a row has, in their order; none are lists.
    init(_ forms: [Column.Form]) {
        columns = .allocate(capacity: forms.count)
        _ = columns.initialize(from: forms.map { Values(form: $0) })
        rowBytes = forms.count * 8
    }

    deinit {
        for column in columns {
            column.values?.deallocate()
            column.heap?.deallocate()
        }
        columns.deinitialize().deallocate()
    }

    func removeAll() {
        rowCount = 0
        byteCount = 0
        for index in columns.indices {
            columns[index].heapCount = 0
            columns[index].nulls.removeAll(keepingCapacity: true)
        }
    }

    // MARK: From SQLite

    /// Takes rows until there are so many bytes, at least one; the row behind them, with which the
    /// statement pauses, goes to others, who must live until then.
    func receive(untilBytes bytesMax: Int, then next: HandedRows) {
        self.bytesMax = max(bytesMax, 1)
        self.next = next
    }

    /// - Returns: whether the statement is to pause behind this row.
    func receive(_ row: FunctionArguments) -> Bool {
        if byteCount < bytesMax {
            append(row)
            return false
        }
        next?.append(row)
        return true
    }

    private func append(_ row: FunctionArguments) {
        precondition(row.count == columns.count, "a row has a value for each column")
        if rowCount == rowCapacity { growRows() }
        var textBytes = 0
        for index in 0..<row.count {
            let value = row[index]
            switch columns[index].form {
            case .integers:
                let integer = value.int64
                columns[index].values?.storeBytes(
                    of: integer, toByteOffset: rowCount &* 8, as: Int64.self)
                // SQLite gives 0 for nil: only then it is asked what it was.
                if integer == 0, value.isNull { columns[index].setNull(rowCount) }
            case .doubles:
                let double = value.double
                columns[index].values?.storeBytes(
                    of: double, toByteOffset: rowCount &* 8, as: Double.self)
                if double == 0, value.isNull { columns[index].setNull(rowCount) }
            case .bytes:
                let isEmpty = value.withBytes { bytes in
                    columns[index].append(bytes, rowCount)
                    return bytes.isEmpty
                }
                if isEmpty, value.isNull { columns[index].setNull(rowCount) }
                textBytes &+= columns[index].heapCount
            case .lists: preconditionFailure("no statement gives lists")
            }
        }
        rowCount &+= 1
        byteCount = rowCount &* rowBytes &+ textBytes
    }

    private func growRows() {
        rowCapacity = max(rowCapacity * 2, 512)
        for index in columns.indices {
            let stride = columns[index].stride
            columns[index].values = grown(
                columns[index].values, rowCount * stride, to: rowCapacity * stride)
        }
    }

    // MARK: To arrays

    func integers(_ column: Int) -> [Int64] { array(column) }

    func doubles(_ column: Int) -> [Double] { array(column) }

    func ends(_ column: Int) -> [UInt32] { array(column) }

    func heap(_ column: Int) -> [UInt8] {
        Array(UnsafeRawBufferPointer(start: columns[column].heap, count: columns[column].heapCount))
    }

    func nulls(_ column: Int) -> [UInt8] { columns[column].nulls }

    private func array<Element>(_ column: Int) -> [Element] {
        let values = columns[column].values?.assumingMemoryBound(to: Element.self)
        return Array(UnsafeBufferPointer(start: values, count: values == nil ? 0 : rowCount))
    }
}

extension HandedRows.Values {
    mutating func append(_ bytes: UnsafeRawBufferPointer, _ row: Int) {
        if heapCount &+ bytes.count > heapCapacity {
            heapCapacity = max(heapCapacity * 2, heapCount + bytes.count, 1_024)
            heap = grown(heap, heapCount, to: heapCapacity)
        }
        if let heap, let start = bytes.baseAddress {
            (heap + heapCount).copyMemory(from: start, byteCount: bytes.count)
        }
        heapCount &+= bytes.count
        values?.storeBytes(
            of: UInt32(truncatingIfNeeded: heapCount), toByteOffset: row &* 4, as: UInt32.self)
    }

    @inline(never)
    mutating func setNull(_ row: Int) {
        while nulls.count <= row >> 3 { nulls.append(0) }
        nulls[row >> 3] |= 1 << UInt8(row & 7)
    }
}

/// More memory with what the old has, which is given up.
private func grown(
    _ memory: UnsafeMutableRawPointer?, _ byteCount: Int, to capacity: Int
) -> UnsafeMutableRawPointer {
    let grown = UnsafeMutableRawPointer.allocate(byteCount: capacity, alignment: 8)
    if let memory { grown.copyMemory(from: memory, byteCount: byteCount) }
    memory?.deallocate()
    return grown
}
