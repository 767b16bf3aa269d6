import LarderSQL

extension ListTable {
    static func register(on connection: Connection) throws(SQLError) {
        try connection.registerTable(name: table, columns: [column]) { rows(of: $0) }
    }

    private static func rows(of argument: FunctionArgument) -> TableRows {
        let bytes = argument.withBytes { [UInt8]($0) }
        guard bytes.count >= numberBytes else { return TableRows() }
        let count = number(bytes, at: 0)
        let headerBytes = numberBytes * (1 + count)
        return TableRows(count: count) { row, _ in
            let start = row == 0 ? headerBytes : number(bytes, at: numberBytes * row)
            return element(bytes[start..<number(bytes, at: numberBytes * (1 + row))])
        }
    }

    private static func number(_ bytes: [UInt8], at offset: Int) -> Int {
        bytes.withUnsafeBytes { Int($0.loadUnaligned(fromByteOffset: offset, as: UInt32.self)) }
    }

    private static func element(_ bytes: ArraySlice<UInt8>) -> FunctionResult {
        let content = bytes.dropFirst()
        func bits() -> UInt64 {
            content.withUnsafeBytes { $0.loadUnaligned(as: UInt64.self) }
        }
        switch bytes.first.flatMap(Form.init) {
        case .integer: return .integer(Int64(bitPattern: bits()))
        case .real: return .real(Double(bitPattern: bits()))
        case .text: return .utf8(content)
        case .blob: return .blob([UInt8](content))
        case nil: return .null
        }
    }
}
