import LarderModel

/// A schema with every rule: all delete rules, bounded cardinality, required relationships,
/// and constraints over attributes and relationships.
package enum League {
    package static func schema() throws -> Schema {
        try Schema(entities: [league, team, player, mascot, badge, sponsor])
    }

    private static let league = Entity(
        name: "League", attributes: [Attribute(name: "name", type: .string, isOptional: true)],
        relationships: [
            Relationship(
                name: "teams", destination: "Team", isToMany: true, inverse: "league",
                deleteRule: .cascade)
        ])

    private static let team = Entity(
        name: "Team",
        attributes: [
            Attribute(name: "name", type: .string, isOptional: true, unique: .exact),
            Attribute(
                name: "number", type: .int64, isOptional: true,
                validation: .init(minimum: .int(0), maximum: .int(9))),
            Attribute(name: "motto", type: .string, isOptional: true),
        ],
        relationships: [
            Relationship(name: "league", destination: "League", inverse: "teams"),
            Relationship(
                name: "players", destination: "Player", isToMany: true, isOrdered: true,
                inverse: "team", deleteRule: .deny, minCount: 2, maxCount: 3),
            Relationship(
                name: "mascot", destination: "Mascot", inverse: "team", deleteRule: .noAction),
            Relationship(
                name: "sponsors", destination: "Sponsor", isToMany: true, inverse: "teams",
                maxCount: 2),
            Relationship(
                name: "rivals", destination: "Team", isToMany: true, deleteRule: .noAction,
                maxCount: 2),
        ],
        uniquenessConstraints: [["league", "number"]])

    private static let player = Entity(
        name: "Player", attributes: [],
        relationships: [
            Relationship(name: "team", destination: "Team", inverse: "players"),
            Relationship(name: "badge", destination: "Badge", inverse: "player"),
        ])

    private static let mascot = Entity(
        name: "Mascot", attributes: [],
        relationships: [Relationship(name: "team", destination: "Team", inverse: "mascot")])

    private static let badge = Entity(
        name: "Badge", attributes: [],
        relationships: [
            Relationship(
                name: "player", destination: "Player", isOptional: false, inverse: "badge",
                deleteRule: .noAction)
        ])

    private static let sponsor = Entity(
        name: "Sponsor", attributes: [],
        relationships: [
            Relationship(
                name: "teams", destination: "Team", isToMany: true, isOptional: false,
                inverse: "sponsors", deleteRule: .deny)
        ])
}
