import LarderModel

/// Reads the objects of one entity from a file.
protocol ObjectSource {
    /// The next object; nil after the last.
    mutating func next() throws(LarderError) -> SourceObject?
}

/// An object of a file.
struct SourceObject {
    let content: ObjectContent
    /// The line on which the object begins.
    let line: Int
    /// The length of its text.
    let byteCount: Int
}

extension SourceObject {
    /// An object of the command line.
    init(_ content: ObjectContent) { self.init(content: content, line: 1, byteCount: 0) }
}
