import LarderModel
import LarderQuery
import LarderSQL

extension JSONFunctions {
    static func register(on connection: Connection) throws(SQLError) {
        try connection.registerScalar(name: member, argumentCount: -1) { member($0) }
        try connection.registerScalar(name: key, argumentCount: 2) { arguments in
            key(of: arguments[0], JSONKind(rawValue: arguments[1].string))
                .map { .blob($0.bytes) } ?? .null
        }
        try connection.registerScalar(name: text, argumentCount: 1) { arguments in
            if arguments[0].isNull { return .null }
            return .text(JSONKey(bytes: arguments[0].withBytes { [UInt8]($0) }).text)
        }
        try ElementTable.register(on: connection)
    }

    /// - Parameter kind: Nil for a JSON text. A decimal is one, too.
    private static func key(of argument: FunctionArgument, _ kind: JSONKind?) -> JSONKey? {
        switch argument.type {
        case .null, .blob: nil
        case .integer where kind == .bool: JSONKey(.bool(argument.int64 != 0))
        case .integer: JSONKey(.integer(argument.int64))
        case .real: JSONValue(number: argument.double).map { JSONKey($0) }
        case .text where kind == .string: JSONKey(.string(argument.string))
        case .text: JSONKey(text: argument.string)
        }
    }

    private static func member(_ arguments: FunctionArguments) -> FunctionResult {
        guard arguments.count >= 2, !arguments[0].isNull else { return .null }
        let path = (2..<arguments.count).map { arguments[$0].string }
        guard let member = JSONMember(of: arguments[0].string, at: path) else { return .null }
        let form = arguments[1].string
        if let type = AttributeType(rawValue: form) {
            return member.value(as: type).map { ScalarFunctions.result($0) } ?? .null
        }
        let kind = JSONKind(rawValue: String(form.dropFirst(keyForm.utf8.count + 1)))
        guard form == keyForm || member.kind == kind else { return .null }
        return .blob(JSONKey(text: member.text).bytes)
    }
}

extension ElementTable {
    static func register(on connection: Connection) throws(SQLError) {
        try connection.registerTable(name: table, columns: [column, indexColumn]) { array in
            if array.isNull { return TableRows() }
            let elements = JSONMember.elements(of: array.string)
            return TableRows(count: elements.count) { row, column in
                column == 0 ? .text(elements[row]) : .integer(Int64(row))
            }
        }
    }
}
