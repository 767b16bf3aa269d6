import Foundation
import SwiftData
import Testing

/// Types that accept no empty value, and have neither a default nor a list of their values.
enum Contact: Codable, Equatable { case mail(String) }

struct ColorCode: Codable, Equatable {
    let text: String

    init(_ text: String) { self.text = text }

    init(from decoder: any Decoder) throws {
        text = try decoder.singleValueContainer().decode(String.self)
        guard text.count == 7, text.first == "#" else {
            throw DecodingError.dataCorrupted(.init(codingPath: [], debugDescription: "no color"))
        }
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(text)
    }
}

struct Steps: Codable, Equatable {
    let counts: [Int]

    init(_ counts: [Int]) { self.counts = counts }

    init(from decoder: any Decoder) throws {
        counts = try decoder.container(keyedBy: CodingKeys.self).decode([Int].self, forKey: .counts)
        guard let first = counts.first, first > 0 else {
            throw DecodingError.dataCorrupted(.init(codingPath: [], debugDescription: "no steps"))
        }
    }
}

enum Shape: Codable, Equatable {
    indirect case group([Shape])
    case circle(radius: Double)
}

@Model final class Strict {
    var contact: Contact
    var color: ColorCode
    var steps: Steps
    var shape: Shape
    var colors: [ColorCode]

    init() {
        contact = .mail("a")
        color = ColorCode("#123456")
        steps = Steps([1])
        shape = .circle(radius: 1)
        colors = []
    }
}

@Suite("A property of a model that was never read and is gone")
struct BlankValueTests {
    @Test("a property of a deleted model that was never read has a value, whatever its type")
    func strictTypes() throws {
        let container = try ModelContainer(
            for: Strict.self, configurations: ModelConfiguration(isStoredInMemoryOnly: true))
        let context = ModelContext(container)
        // No value of the types was seen in this process before.
        let absent = try JSONDecoder().decode(
            PersistentIdentifier.self,
            from: Data(
                """
                {"implementation":{"uriRepresentation":\
                "x-coredata://11111111-2222-3333-4444-555555555555/Strict/p1"}}
                """.utf8))
        let gone = try #require(context.model(for: absent) as? Strict)
        #expect(gone.color == ColorCode("#000000"))
        #expect(gone.steps == Steps([1]))
        #expect(gone.shape == .group([]))
        #expect(gone.colors == [])
        if case .mail(let text) = gone.contact { #expect(text == "") }
        #expect(gone.isDeleted || gone.modelContext === context)
    }
}
