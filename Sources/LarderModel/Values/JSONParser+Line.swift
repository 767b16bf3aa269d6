extension JSONParser {
    /// The line of a value in a valid document, from 1; that of the last part of its path that
    /// exists.
    package static func line(of path: [SchemaPath.Step], in text: String) -> Int {
        var parser = JSONParser(text, .never, buildsTree: false)
        var line = 1
        parser.skipSpace()
        for step in path {
            guard (try? parser.enter(step)) ?? false else { break }
            line = parser.line
        }
        return line
    }

    /// Advances from the beginning of an object or an array to one of its values.
    ///
    /// - Returns: false if there is none.
    private mutating func enter(_ step: SchemaPath.Step) throws(LarderError) -> Bool {
        switch step {
        case .key(let wanted):
            guard skip(UInt8(ascii: "{")) else { return false }
            repeat {
                skipSpace()
                guard current == UInt8(ascii: "\"") else { return false }
                let key = try key().key
                skipSpace()
                guard skip(UInt8(ascii: ":")) else { return false }
                skipSpace()
                if key == wanted { return true }
                _ = try value(depth: 1)
                skipSpace()
            } while skip(UInt8(ascii: ","))
        case .index(let index):
            guard skip(UInt8(ascii: "[")) else { return false }
            var number = 0
            repeat {
                skipSpace()
                if number == index { return true }
                _ = try value(depth: 1)
                skipSpace()
                number += 1
            } while skip(UInt8(ascii: ","))
        }
        return false
    }
}
