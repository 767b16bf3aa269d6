import Foundation
import SwiftData
import Testing

@Suite("Value transformers, which Foundation does not have here")
struct ValueTransformerTests {
    private final class Reversed: ValueTransformer {
        override class func transformedValueClass() -> AnyClass { NSData.self }
        override class func allowsReverseTransformation() -> Bool { true }
        override func transformedValue(_ value: Any?) -> Any? {
            (value as? [UInt8]).map { Data($0.reversed()) }
        }
        override func reverseTransformedValue(_ value: Any?) -> Any? {
            (value as? Data).map { [UInt8]($0.reversed()) }
        }
    }

    @Test("value transformers are registered and found by name")
    func registration() throws {
        let name = NSValueTransformerName("Reversed \(UUID())")
        #expect(NSValueTransformerName(rawValue: name.rawValue) == name)
        #expect(ValueTransformer(forName: name) == nil)
        ValueTransformer.setValueTransformer(Reversed(), forName: name)
        #expect(ValueTransformer.valueTransformerNames().contains(name))
        let found = try #require(ValueTransformer(forName: name))
        #expect(found.transformedValue([UInt8]([1, 2])) as? Data == Data([2, 1]))
        #expect(found.reverseTransformedValue(Data([2, 1])) as? [UInt8] == [1, 2])
        #expect("\(Reversed.transformedValueClass())" == "NSData")
        #expect(Reversed.allowsReverseTransformation())
        #expect(ValueTransformer.allowsReverseTransformation())
        #expect("\(ValueTransformer.transformedValueClass())" == "NSData")
        #expect(ValueTransformer().transformedValue(3) as? Int == 3)
        ValueTransformer.setValueTransformer(nil, forName: name)
        #expect(ValueTransformer(forName: name) == nil)
    }

    @Test("the value transformer of archives converts data to objects and back")
    func archives() throws {
        let transformer = NSSecureUnarchiveFromDataTransformer()
        let data = try #require(
            transformer.reverseTransformedValue(NSString(string: "text")) as? Data)
        #expect(transformer.transformedValue(data) as? NSString == "text")
        #expect(transformer.transformedValue(Data([1, 2, 3])) == nil)
        #expect(transformer.transformedValue(nil) == nil)
        #expect(NSSecureUnarchiveFromDataTransformer.allowedTopLevelClasses.count == 10)
        let name = NSValueTransformerName.secureUnarchiveFromDataTransformerName
        #expect(name.rawValue == "NSSecureUnarchiveFromData")
    }
}
