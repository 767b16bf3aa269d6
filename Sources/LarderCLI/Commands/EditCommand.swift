import ArgumentParser
import Glibc
import LarderModel
import LarderPrograms

struct EditCommand: StoreCommand {
    static let configuration = CommandConfiguration(
        commandName: "edit",
        abstract: "Change an object in an editor.",
        discussion: """
            EXAMPLES:
              larder edit Article/p7
              EDITOR='code --wait' larder edit Article/p7

            Opens the properties of the object as JSON in $VISUAL, $EDITOR or vi. What was changed \
            is saved when the editor ends, if nobody else has changed the object meanwhile; \
            otherwise the exit status is 3. After an error the text stays in its file, whose path \
            is printed. A text without a change, or an empty one, changes nothing.
            """)

    @Argument(
        help: ArgumentHelp("URI of the object.", valueName: "uri"),
        completion: StoreCompletion.entity)
    var uri: String

    @OptionGroup var dates: DateOptions
    @OptionGroup var authorOption: AuthorOption
    @OptionGroup var connection: ConnectionOptions

    var author: String? { authorOption.author }

    func run(_ session: StoreSession) throws {
        let identifier = try session.identifier(uri)
        guard let record = try session.client.object(for: identifier) else {
            throw LarderError(
                .objectNotFound, "the object \(identifier.uriRepresentation) does not exist",
                uri: identifier.uriRepresentation)
        }
        let decoder = try session.decoder(record.entityName, dates)
        let text = try EditedText(Self.text(of: record, decoder.entity))
        try text.edit()
        do throws(LarderError) {
            guard let values = try changes(in: text.read(), to: record, decoder) else {
                StandardError.write("nothing was changed\n")
                return text.remove()
            }
            let change = Change.update(
                record.identifier, ifVersion: record.version, values: values)
            _ = try session.client.save(ChangeSet([change]))
            text.remove()
        } catch {
            var failure = error
            if text.exists {
                failure.problems.append("the text is in \(text.path)")
            } else {
                text.remove()
            }
            throw failure
        }
    }

    /// One property per line.
    private static func text(of record: Record, _ entity: Entity) -> String {
        let names =
            entity.attributes.filter { !$0.isDerived }.map(\.name)
            + entity.relationships.map(\.name)
        let members = names.map { name in
            "  \(JSONValue.string(name).text): \((record[name] ?? .null).jsonValue.text)"
        }
        return """
            # \(record.identifier.uriRepresentation), version \(record.version)
            # Lines that begin with # are ignored. A property without a line stays as it is.
            {
            \(members.joined(separator: ",\n"))
            }

            """
    }

    /// The values that differ from those of the object; nil if there are none.
    private func changes(
        in text: String, to record: Record, _ decoder: ObjectDecoder
    ) throws(LarderError) -> [String: Value]? {
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        // Empty lines keep the numbers of the others in errors.
        let document = lines.map { $0.hasPrefix("#") ? "" : $0 }.joined(separator: "\n")
        guard document.contains(where: { !$0.isWhitespace }) else { return nil }
        guard case .object(let members) = try JSONValue(parsing: document) else {
            throw LarderError(.malformedValue, "the text must be a JSON object")
        }
        let values = try decoder.content(members)
            .values(orThrow: "write the whole list of a to-many relationship")
        let changed = values.filter { $0.value != record[$0.key] ?? .null }
        return changed.isEmpty ? nil : changed
    }
}

/// A text in a file for its user only, which an editor changes.
private struct EditedText {
    let path: String
    private let folder: String
    private static let bytesMax = 4 * Limits.frameBytesMax

    init(_ text: String) throws(LarderError) {
        folder = try TemporaryFolder.make(for: "the text")
        path = "\(folder)/object.json"
        let file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        let bytes = Array(text.utf8)
        guard file >= 0, write(file, bytes, bytes.count) == bytes.count, close(file) == 0 else {
            throw LarderError(
                .storageFailed, "cannot write \(path): \(SystemError(code: errno).text)")
        }
    }

    /// Runs the editor.
    func edit() throws(LarderError) {
        let editor = Environment.value("VISUAL") ?? Environment.value("EDITOR") ?? "vi"
        // The variable may have options, as in `code --wait`.
        let arguments = ["sh", "-c", "\(editor) \"$1\"", "sh", path]
        let status: Int32
        do throws(SystemError) {
            status = try ChildProcess.run("/bin/sh", arguments, sharesInput: true)
        } catch {
            throw LarderError(.storageFailed, "cannot execute \(editor): \(error.text)")
        }
        guard status == 0 else {
            remove()
            throw LarderError(
                .cancelled,
                "nothing was changed: the editor \(editor) failed with status \(status)",
                hint: "set EDITOR to another program")
        }
    }

    /// Whether the editor has left the file.
    var exists: Bool { access(path, F_OK) == 0 }

    func read() throws(LarderError) -> String {
        try InputFile(path).text(bytesMax: Self.bytesMax)
    }

    func remove() { TemporaryFolder.remove(folder, with: path) }
}
