internal import CExpat
internal import LarderModel

/// An element of an XML document, without what is between its children.
struct XMLElement {
    let name: String
    let attributes: [String: String]
    /// The text before the first child and after each one.
    fileprivate(set) var text = ""
    fileprivate(set) var children: [XMLElement] = []

    fileprivate init(name: String, attributes: [String: String]) {
        self.name = name
        self.attributes = attributes
    }

    subscript(name: String) -> String? { attributes[name] }

    /// Whether an attribute is `YES`.
    func isOn(_ name: String) -> Bool { attributes[name] == "YES" }

    func children(_ name: String) -> [XMLElement] { children.filter { $0.name == name } }

    func child(_ name: String) -> XMLElement? { children.first { $0.name == name } }

    // MARK: - Reading

    /// A model nests some five elements.
    private static let depthMax = 64

    /// Reads a document.
    ///
    /// - Throws: `malformedSchema` with the line and the column.
    static func document(_ bytes: [UInt8]) throws(LarderError) -> XMLElement {
        guard let parser = XML_ParserCreate(nil) else {
            throw LarderError(.resourceExhausted, "there is no memory for a parser")
        }
        defer { XML_ParserFree(parser) }
        let reader = Reader(parser)
        XML_SetUserData(parser, Unmanaged.passUnretained(reader).toOpaque())
        XML_SetElementHandler(
            parser, { Reader.from($0)?.begin($1, $2) }, { data, _ in Reader.from(data)?.end() })
        XML_SetCharacterDataHandler(parser) { Reader.from($0)?.append($1, $2) }
        let status = bytes.withUnsafeBytes { bytes in
            XML_Parse(
                parser, bytes.bindMemory(to: CChar.self).baseAddress, Int32(bytes.count), 1)
        }
        guard status == XML_STATUS_OK, let root = reader.root else {
            let reason =
                reader.isTooDeep
                ? "elements are nested more than \(depthMax) deep"
                : XML_ErrorString(XML_GetErrorCode(parser)).map { String(cString: $0) }
            throw LarderError(
                .malformedSchema,
                "line \(XML_GetCurrentLineNumber(parser)), column "
                    + "\(XML_GetCurrentColumnNumber(parser) + 1): \(reason ?? "not XML")")
        }
        return root
    }

    /// Builds the tree from what the parser reports.
    private final class Reader {
        private let parser: XML_Parser
        private var open: [XMLElement] = []
        private(set) var root: XMLElement?
        private(set) var isTooDeep = false

        init(_ parser: XML_Parser) { self.parser = parser }

        static func from(_ data: UnsafeMutableRawPointer?) -> Reader? {
            data.map { Unmanaged<Reader>.fromOpaque($0).takeUnretainedValue() }
        }

        /// - Parameter attributes: Names and values in turn, up to a null.
        func begin(
            _ name: UnsafePointer<XML_Char>?,
            _ attributes: UnsafeMutablePointer<UnsafePointer<XML_Char>?>?
        ) {
            var values: [String: String] = [:]
            var index = 0
            while let attributes, let key = attributes[index], let value = attributes[index + 1] {
                values[String(cString: key)] = String(cString: value)
                index += 2
            }
            open.append(
                XMLElement(name: name.map { String(cString: $0) } ?? "", attributes: values))
            guard open.count > XMLElement.depthMax else { return }
            isTooDeep = true
            XML_StopParser(parser, 0)
        }

        func end() {
            guard let element = open.popLast() else { return }
            if open.isEmpty {
                root = element
            } else {
                open[open.count - 1].children.append(element)
            }
        }

        func append(_ text: UnsafePointer<XML_Char>?, _ count: Int32) {
            guard let text, !open.isEmpty else { return }
            let bytes = UnsafeBufferPointer(start: text, count: Int(count))
            open[open.count - 1].text += String(
                decoding: bytes.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        }
    }
}
