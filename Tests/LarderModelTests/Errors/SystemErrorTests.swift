import Glibc
import LarderModel
import Testing

@Suite("Error numbers of the system")
struct SystemErrorTests {
    @Test("an error number has the system's text, also if it is unknown")
    func text() {
        #expect(SystemError(code: ENOENT).text == "No such file or directory")
        #expect(SystemError(code: 12_345).text == "unknown error 12345")
    }
}
