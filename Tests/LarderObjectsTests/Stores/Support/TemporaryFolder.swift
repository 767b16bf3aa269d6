import Foundation

/// A folder that is removed with the object.
final class TemporaryFolder {
    let path: String

    init() throws {
        var template = Array("/tmp/larder-objects-XXXXXX".utf8CString)
        let made = mkdtemp(&template)
        path = made.map { String(cString: $0) } ?? ""
        if path.isEmpty { throw CocoaError(.fileWriteUnknown) }
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    /// The path of a file in the folder.
    subscript(_ name: String) -> String { "\(path)/\(name)" }

    var fileNames: [String] {
        get throws { try FileManager.default.contentsOfDirectory(atPath: path).sorted() }
    }
}
