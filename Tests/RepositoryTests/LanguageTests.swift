import FoundationEssentials
import Glibc
import Testing

@Suite("Plain English")
struct LanguageTests {
    /// A phrase and its replacement, from `Phrases.text`: `phrase: replacement`, in lowercase.
    private struct Phrase {
        let text: [UInt8]
        let replacement: String
    }

    private static func phrases() throws -> [Phrase] {
        try Repository.read("Tests/RepositoryTests/Phrases.text").lines.compactMap { line in
            guard let colon = line.firstIndex(of: ":") else { return nil }
            let replacement = line[colon...].dropFirst(2)
            return Phrase(text: Array(line[..<colon].utf8), replacement: String(replacement))
        }
    }

    private static func files() throws -> [Repository.File] {
        let folders =
            [
                "Sources", "Tests", "Proto", "Clients", "Examples", "docs", "scripts", "Packaging",
                "Plugins",
            ]
            + Repository.benchmarks + Repository.browser
        let endings = [
            ".swift", ".md", ".proto", ".py", ".go", ".ts", ".bats", ".bash", ".c", ".h",
            ".service", ".socket", ".timer", ".conf", ".5", ".7",
        ]
        let files = try Repository.files(under: folders, endings: endings)
        // The rules name the phrases that they ban.
        return try files.filter { !$0.path.hasPrefix("Tests/RepositoryTests/") }
            + ["README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md"].map(Repository.read)
    }

    @Test("no file contains a banned phrase")
    func bannedPhrases() throws {
        let phrases = try Self.phrases()
        #expect(phrases.count > 50)
        for file in try Self.files() {
            for (number, phrase) in matches(of: phrases, in: file) {
                Issue.record(
                    """
                    \(file.path):\(number): "\(String(decoding: phrase.text, as: UTF8.self))"; \
                    write: \(phrase.replacement)
                    """)
            }
        }
    }

    @Test("no comment begins with its object instead of its subject")
    func sentences() throws {
        let markers = ["/// ", "// ", "# ", "-- ", "- "]
        let starts = ["Of ", "Whoever ", "What is ", "What are ", "What was ", "What has "]
        // Headings and elements of lists may begin so.
        let startsInCode = ["What ", "The same ", "Those ", "Whose "]
        for file in try Self.files() {
            for (number, line) in file.lines.enumerated() {
                let text = line.drop { $0 == " " }
                guard let marker = markers.first(where: text.hasPrefix) else { continue }
                let sentence = text.dropFirst(marker.count)
                let banned = starts + (marker.hasPrefix("//") ? startsInCode : [])
                #expect(
                    !banned.contains(where: sentence.hasPrefix),
                    "\(file.path):\(number + 1): begin with the subject")
            }
        }
    }

    @Test("a banned phrase is found between word boundaries, in any case")
    func matching() {
        let phrase = Phrase(text: Array("in vain".utf8), replacement: "")
        func found(_ line: Substring) -> Bool {
            !matches(of: [phrase], in: Repository.File(path: "", lines: ["", line])).isEmpty
        }
        #expect(found("it waits In vain."))
        #expect(found("in vain"))
        #expect(!found("within vain"))
        #expect(!found("in vainglory"))
    }

    /// The phrases in a file with their line numbers.
    private func matches(
        of phrases: [Phrase], in file: Repository.File
    ) -> [(line: Int, phrase: Phrase)] {
        let text = file.lines.joined(separator: "\n").utf8.map { byte in
            (65...90).contains(byte) ? byte + 32 : byte
        }
        return phrases.flatMap { phrase in
            occurrences(of: phrase.text, in: text).map { offset in
                (text[..<offset].count { $0 == UInt8(ascii: "\n") } + 1, phrase)
            }
        }
    }

    private func occurrences(of phrase: [UInt8], in text: [UInt8]) -> [Int] {
        func isLetter(_ index: Int) -> Bool {
            text.indices.contains(index) && (97...122).contains(text[index])
        }
        // The C library's search is fast also in debug builds. The zero byte ends it.
        return (text + [0]).withUnsafeBufferPointer { bytes in
            var offsets: [Int] = []
            var start = 0
            bytes.withMemoryRebound(to: CChar.self) { bytes in
                guard let base = bytes.baseAddress else { return }
                while let found = strstr(base + start, String(decoding: phrase, as: UTF8.self)) {
                    let offset = base.distance(to: found)
                    if !isLetter(offset - 1), !isLetter(offset + phrase.count) {
                        offsets.append(offset)
                    }
                    start = offset + 1
                }
            }
            return offsets
        }
    }
}
