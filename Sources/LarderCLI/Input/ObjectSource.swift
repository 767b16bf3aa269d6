import LarderModel

/// Reads the objects of one entity from a file.
protocol ObjectSource {
    /// The next object; nil after the last.
    mutating func next() throws(LarderError) -> SourceObject?
    /// The row of the error that `next` has just thrown, if the source can continue after it; nil
    /// after other errors.
    var badRow: SourceRow? { get }
}

extension ObjectSource {
    var badRow: SourceRow? { nil }
}

/// A row of a file as it is written there.
struct SourceRow {
    /// The line on which the row begins.
    let line: Int
    /// Empty if the source does not keep the texts.
    let text: [UInt8]
}

/// An object of a file.
struct SourceObject {
    let content: ObjectContent
    /// The line on which the object begins.
    let line: Int
    /// The length of its text.
    let byteCount: Int
    /// The text, if the source keeps it.
    var text: [UInt8] = []
}

extension SourceObject {
    /// An object of the command line.
    init(_ content: ObjectContent) { self.init(content: content, line: 1, byteCount: 0) }
}
