import Foundation
import LarderData
import Testing

// A warning is an error in this target.
@CloudKitChecked @Model final class Synchronized {
    var name: String = ""
    var made: Date?
    @Relationship(deleteRule: .cascade, inverse: \Part.whole) var parts: [Part]? = []

    init() {}
}

@CloudKitChecked @Model final class Part {
    var number = 0
    var whole: Synchronized?

    init() {}
}

@Suite("A checked model class")
struct CloudKitCheckedTests {
    @Test("the schema of a class that CloudKit can synchronize has no CloudKit problem")
    func correct() {
        #expect(Schema(Synchronized.self).cloudKitProblems == [])
    }
}
