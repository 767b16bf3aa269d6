import LarderModel
import Testing

@testable import LarderStore

@Suite("the errors of a change set")
struct ChangeErrorTests {
    private let library: Library

    init() throws { library = try Library(schema: League.schema()) }

    @Test("the errors of all rules in a change set are reported together")
    func together() throws {
        let (team, members) = try library.team(["name": "a"], playerCount: 2)
        let error = try library.refusal(
            .insert(.new("t", "Team"), values: ["name": "a", "number": 10]),
            .insert(.new("b", "Badge"), values: [:]),
            .update(members[0], ifVersion: nil, values: ["team": nil]),
            .update(team, ifVersion: nil, values: ["motto": 1, "number": -1]))
        #expect(error.problems.count == 6)
        #expect(error.message.hasSuffix(", and the change set has 5 other errors"))
        let parts = error.details.map { detail in
            "\(detail.change ?? -1) \(detail.entityName ?? "") \(detail.propertyNames) "
                + "\(detail.rule?.rawValue ?? "") \(detail.valueKind ?? "")"
        }
        #expect(
            parts == [
                #"0 Team ["number"] maximum an integer"#, #"3 Team ["motto"] type an integer"#,
                #"3 Team ["number"] minimum an integer"#, #"1 Badge ["player"] optional "#,
                #"2 Team ["players"] minCount "#, #"0 Team ["name"] unique "#,
            ])
        #expect(error.details.map(\.message) == error.problems.map { String($0.dropFirst(12)) })
        #expect(error.details.last?.uri == team.uriRepresentation)
    }

    @Test("errors of names in a change set are reported without dependent errors")
    func incoherent() throws {
        let error = try library.refusal(
            .insert(.new("t", "Team"), values: ["nothing": 1, "number": 10]),
            .insert(.new("b", "Badge"), values: [:]))
        #expect(error.details.map(\.code) == [.unknownProperty, .validationFailed])
    }

    @Test("an error anywhere in a change set undoes the whole set")
    func whole() throws {
        let team = try library.insert("Team", ["name": "a"])
        let other = try library.insert("Team", ["name": "b"])
        let insert = Change.insert(.new("t", "Team"), values: [:])
        let sets: [([Change], ErrorCode)] = [
            ([insert, .delete(.new("t", "Team"), ifVersion: nil)], .invalidChangeSet),
            (
                [
                    .delete(team, ifVersion: nil),
                    .update(team, ifVersion: nil, values: ["motto": "m"]),
                ], .invalidChangeSet
            ),
            (
                [
                    insert,
                    .insert(.new("m", "Mascot"), values: ["team": .object(.new("x", "Team"))]),
                ],
                .invalidChangeSet
            ),
            (
                [
                    .update(team, ifVersion: nil, values: ["motto": "m"]),
                    .update(team, ifVersion: nil, values: ["motto": "n"]),
                ], .invalidChangeSet
            ),
            ([insert, .update(team, ifVersion: nil, values: ["name": "b"])], .uniquenessViolated),
            (
                [
                    insert, .delete(other, ifVersion: nil),
                    .insert(.new("s", "Sponsor"), values: [:]),
                ],
                .validationFailed
            ),
        ]
        for (changes, code) in sets {
            let error = try #require(try library.refusal(of: ChangeSet(changes)))
            #expect(error.code == code)
            #expect(error.details.first?.code == code)
            #expect(!error.message.isEmpty)
        }
    }
}
