import FoundationEssentials
import LarderModel
import Testing

@Suite("Proto/error.proto agrees with the code")
struct ProtoErrorTests {
    @Test("Proto/error.proto has every error code with its number and name, and no other")
    func errorCodes() throws {
        let path = "\(Scripts.repository)/Proto/error.proto"
        let text = String(decoding: try Data(contentsOf: URL(filePath: path)), as: UTF8.self)
        let found = text.matches(of: /\n +ERROR_CODE_([A-Z_]+) = ([0-9]+);/).map { match in
            "\(match.2) \(match.1)"
        }
        #expect(
            found == ["0 UNSPECIFIED"] + ErrorCode.allCases.map { "\($0.rawValue) \($0.name)" })
    }
}
