internal import Glibc
package import LarderModel
internal import LarderPrograms

/// Finds the document of a model that Xcode's editor has written.
package enum XcodeModelFile {
    private static let bytesMax = 16 << 20

    /// Reads a model.
    ///
    /// - Parameter path: An `.xcdatamodeld` folder, whose current version is read, an
    ///   `.xcdatamodel` folder, or the file `contents` in one.
    /// - Throws: `storageFailed` if a file cannot be read, `malformedSchema` for one that is no
    ///   model, with its path.
    package static func read(_ path: String) throws(LarderError) -> XcodeModel {
        let file = try document(of: path)
        return try located(file) { () throws(LarderError) in
            try XcodeModel(XMLElement.document(bytes(file)))
        }
    }

    private static func document(of path: String) throws(LarderError) -> String {
        let path = path.count > 1 && path.hasSuffix("/") ? String(path.dropLast()) : path
        guard isFolder(path) else { return path }
        if isFile("\(path)/contents") { return "\(path)/contents" }
        // Without the file there is one version, of the name of the folder.
        let current = "\(path)/.xccurrentversion"
        let base = path.split(separator: "/").last.map { $0.split(separator: ".")[0] } ?? ""
        var name = "\(base).xcdatamodel"
        if isFile(current) {
            let named = try located(current) { () throws(LarderError) in
                version(in: try XMLElement.document(bytes(current)))
            }
            guard let named, !named.contains("/") else {
                throw LarderError(.malformedSchema, "\(current) does not name a version")
            }
            name = named
        }
        let document = "\(path)/\(name)/contents"
        guard isFile(document) else {
            throw LarderError(
                .storageFailed, "\(path) has no model: \(name)/contents does not exist",
                hint: "name an .xcdatamodeld or .xcdatamodel folder of Xcode")
        }
        return document
    }

    /// The value of the key in a property list.
    private static func version(in list: XMLElement) -> String? {
        let members = list.child("dict")?.children ?? []
        let key = members.firstIndex { $0.name == "key" && $0.text == "_XCCurrentVersionName" }
        guard let key, key + 1 < members.count else { return nil }
        return members[key + 1].text
    }

    private static func bytes(_ path: String) throws(LarderError) -> [UInt8] {
        Array(try InputFile(path).text(bytesMax: bytesMax).utf8)
    }

    private static func located<Result>(
        _ path: String, _ body: () throws(LarderError) -> Result
    ) throws(LarderError) -> Result {
        do throws(LarderError) {
            return try body()
        } catch {
            var located = error
            if !located.message.contains(path) { located.message = "\(path): \(error.message)" }
            throw located
        }
    }

    private static func isFolder(_ path: String) -> Bool { kind(path) == S_IFDIR }

    private static func isFile(_ path: String) -> Bool { kind(path) == S_IFREG }

    private static func kind(_ path: String) -> mode_t? {
        var status = stat()
        return stat(path, &status) == 0 ? status.st_mode & S_IFMT : nil
    }
}
