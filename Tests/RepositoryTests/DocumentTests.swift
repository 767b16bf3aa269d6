import FoundationEssentials
import Testing

@Suite("Documents lead somewhere")
struct DocumentTests {
    private static func documents() throws -> [Repository.File] {
        let top = ["README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md"]
        return try top.map(Repository.read)
            + Repository.files(under: ["docs", "Clients", "Examples"], endings: [".md"])
    }

    @Test("every link in a document leads to an existing file")
    func links() throws {
        var count = 0
        for document in try Self.documents() {
            var isCode = false
            for (number, line) in document.lines.enumerated() {
                if line.hasPrefix("```") { isCode.toggle() }
                guard !isCode else { continue }
                let text = line.replacing(/`[^`]*`/, with: "`")
                for match in text.matches(of: /\]\(([^)#]+)[^)]*\)/)
                where !match.1.contains("://") {
                    count += 1
                    let folder = document.path.split(separator: "/").dropLast()
                    let path = (folder + [match.1]).joined(separator: "/")
                    #expect(
                        Repository.exists(path), "\(document.path):\(number + 1): \(match.1)")
                }
            }
        }
        #expect(count > 0)
    }

    @Test("every source file that a document names exists")
    func sources() throws {
        // A document may omit the leading folders of a path.
        let paths = try Repository.swiftFiles().map { "/" + $0.path }
        var count = 0
        for document in try Self.documents() where document.path != "CHANGELOG.md" {
            for (number, line) in document.lines.enumerated() {
                for match in line.matches(of: /`([A-Za-z]+\/[A-Za-z0-9+\/]+\.swift)`/) {
                    count += 1
                    #expect(
                        paths.contains { $0.hasSuffix("/" + match.1) },
                        "\(document.path):\(number + 1): \(match.1) does not exist")
                }
            }
        }
        #expect(count > 0)
    }
}
