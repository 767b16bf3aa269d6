import Foundation
import SwiftData
import Testing

@Suite("A model type has a description")
struct ModelDescriptionTests {
    @Test("the slots of a subclass follow those of its superclass")
    func slots() {
        let puppy = ModelDescription.of(Puppy.self)
        #expect(
            puppy.properties.map(\.name) == [
                "name", "legs", "owner", "chip", "isGood", "friends", "weeks", "toys",
            ])
        #expect(puppy.properties.map(\.slot) == Array(0..<8))
        #expect(puppy.superclass === ModelDescription.of(Dog.self))
        #expect(ModelDescription.of(Animal.self).superclass == nil)
        #expect(_slotCount(of: Dog.self) == 6)
    }

    @Test("a property of a model is found by its key path, whichever class is the root")
    func keyPaths() {
        let puppy = ModelDescription.of(Puppy.self)
        #expect(puppy.slot(of: \Puppy.weeks) == 6)
        #expect(puppy.slot(of: \Animal.legs) == 1)
        #expect(puppy.slot(of: \Puppy.legs) == 1)
        #expect(puppy.slot(of: \Dog.legs) == 1)
        #expect(puppy.slot(of: \Puppy.isGood) == 4)
        #expect(puppy.slot(of: \Puppy.friends) == 5)
        #expect(puppy.slot(of: \Puppy.owner) == 2)
        #expect(puppy.slot(of: \Puppy.hashValue) == nil)
        #expect(puppy.slot(of: \Puppy.persistentModelID) == nil)
        #expect(puppy.slot(of: \Keeper.name) == nil)
        #expect(ModelDescription.of(Animal.self).slot(of: \Dog.isGood) == nil)
        let everything = ModelDescription.of(Shapes.Everything.self)
        for property in everything.properties {
            #expect(everything.slot(of: property.keyPath) == property.slot)
        }
        #expect(everything.slot(of: \Shapes.Everything.half) == nil)
        #expect(everything.slot(of: \Shapes.Everything.twice) == nil)
        #expect(everything.slot(of: \Shapes.Everything.isSelected) == nil)
    }

    @Test("a key path of a protocol's requirement is not that of a property")
    func requirements() {
        func keyPath<Model: TitledModel>(_ type: Model.Type) -> AnyKeyPath { \Model.title }
        let item = ModelDescription.of(ShapesV1.Item.self)
        #expect(item.slot(of: keyPath(ShapesV1.Item.self)) == nil)
    }

    @Test("only defaults that are the same in every process belong to the schema")
    func constants() {
        let everything = ModelDescription.of(Shapes.Everything.self)
        let constants = everything.properties.filter(\.isDefaultConstant).map(\.name)
        #expect(
            constants == [
                "text", "bool", "int", "small", "float", "double", "status", "level",
                "words", "numbers", "counts", "byStatus", "default", "readOnly", "progress",
                "title",
            ])
        #expect(everything.property(named: "date")?.defaultValue != nil)
        #expect(everything.property(named: "level")?.defaultValue == .int(1))
        #expect(everything.property(named: "words")?.defaultValue == .json(#"["a","b"]"#))
        #expect(everything.property(named: "numbers")?.defaultValue == .json("[1,2,3]"))
        #expect(everything.property(named: "optional")?.defaultValue == nil)
    }

    @Test("every attribute that is not optional has a blank value")
    func blanks() {
        for property in ModelDescription.of(Shapes.Everything.self).properties {
            #expect(property.isOptional == (property.blank() == nil), "\(property.name)")
        }
    }

    @Test("#Index and #Unique of an inherited property that is not persisted are errors")
    func inheritedConstraints() {
        do {
            _ = try ModelContainer(
                for: Lathe.self, Machine.self,
                configurations: ModelConfiguration(isStoredInMemoryOnly: true))
            Issue.record("the properties are not persisted")
        } catch {
            #expect(error as? SwiftDataError == .loadIssueModelContainer)
            let text = "\(error)"
            #expect(text.contains("Lathe: #Unique names `isOn`, which is not persisted"))
            #expect(text.contains("Lathe: #Index names `label`, which is not persisted"))
            #expect(!text.contains("maker"))
        }
    }
}

@Model class Machine {
    var maker: String
    @Transient var isOn = false
    var label: String { maker.uppercased() }

    init(maker: String) { self.maker = maker }
}

@Model final class Lathe: Machine {
    #Index<Lathe>([\.maker, \.label])
    #Unique<Lathe>([\.maker, \.isOn])
    var speed = 1

    override init(maker: String) { super.init(maker: maker) }
}
