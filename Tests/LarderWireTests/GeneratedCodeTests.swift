import FoundationEssentials
import Testing

@Suite("Generated code")
struct GeneratedCodeTests {
    @Test("the committed C code is what protoc-c generates from the committed Proto folder")
    func isCurrent() {
        #expect(Scripts.run("scripts/generate-proto", ["--check"]) == 0)
    }

    @Test("a wrong option of scripts/generate-proto is a usage error")
    func usage() {
        #expect(Scripts.run("scripts/generate-proto", ["--chekc"]) == 64)
    }

    @Test("each file of Proto names the packages of languages that need one")
    func packages() throws {
        let folder = "\(Scripts.repository)/Proto"
        let files = try FileManager.default.contentsOfDirectory(atPath: folder)
            .filter { $0.hasSuffix(".proto") }
        #expect(files.count > 5)
        for file in files {
            let data = try Data(contentsOf: URL(filePath: "\(folder)/\(file)"))
            let text = String(decoding: data, as: UTF8.self)
            let name = file.split(separator: ".")[0]
            for option in [
                "go_package = \"larder/v1;larderv1\"", "java_package = \"larder.v1\"",
                "java_multiple_files = true",
                "java_outer_classname = \"\(name.prefix(1).uppercased())\(name.dropFirst())Proto\"",
                "objc_class_prefix = \"LDR\"",
            ] {
                #expect(text.contains("\noption \(option);\n"), "\(file) lacks \(option)")
            }
        }
    }
}
