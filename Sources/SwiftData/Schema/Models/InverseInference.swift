/// The inverses of the relationships of models.
///
/// An inverse is named on one side by `@Relationship(inverse:)`, and the other side follows. Where
/// neither side names it, two relationships are inverses if they are the only ones between their
/// models. A relationship of a model to itself has no inverse unless it is named.
struct InverseInference {
    struct Inverse {
        let name: String
        let keyPath: AnyKeyPath
    }

    /// A relationship as its class declares it.
    private struct End {
        let model: ModelDescription
        let property: ModelProperty
        let destination: ModelDescription
        /// The inverse that `@Relationship` names.
        var named: AnyKeyPath?
        var inverse: ModelProperty?

        var name: String { "\(model.entityName).\(property.name)" }

        func leads(to other: End) -> Bool { destination === other.model }
    }

    private var ends: [End] = []
    private(set) var problems: [String] = []

    init(_ models: [ModelDescription]) {
        for model in models {
            for property in model.ownProperties {
                guard let type = property.destination else { continue }
                ends.append(
                    End(
                        model: model, property: property, destination: .of(type),
                        named: (property.metadata as? Schema.Relationship)?.inverseKeyPath))
            }
        }
        resolveNamed()
        inferOthers()
    }

    func inverse(of property: ModelProperty, in model: ModelDescription) -> Inverse? {
        ends.first { $0.model === model && $0.property.name == property.name }?.inverse
            .map { Inverse(name: $0.name, keyPath: $0.keyPath) }
    }

    private mutating func resolveNamed() {
        for index in ends.indices {
            guard let keyPath = ends[index].named else { continue }
            let end = ends[index]
            guard let inverse = end.destination.property(of: keyPath) else {
                problems.append(
                    "\(end.name): the inverse \(keyPath) is not a persisted property of "
                        + end.destination.entityName)
                continue
            }
            set(inverse, of: index)
            guard
                let other = ends.firstIndex(where: {
                    $0.model === end.destination && $0.property.name == inverse.name
                })
            else { continue }
            if ends[other].named == nil { set(end.property, of: other) }
        }
    }

    private mutating func set(_ inverse: ModelProperty, of index: Int) {
        let end = ends[index]
        if let other = end.inverse, other.name != inverse.name {
            let names = [other.name, inverse.name].sorted().joined(separator: " and ")
            problems.append(
                "\(end.name): both \(names) of \(end.destination.entityName) name it as their "
                    + "inverse")
            return
        }
        ends[index].inverse = inverse
    }

    private mutating func inferOthers() {
        let open = ends.filter { $0.inverse == nil && $0.named == nil }
        for index in ends.indices where ends[index].inverse == nil && ends[index].named == nil {
            let end = ends[index]
            guard end.model !== end.destination else { continue }
            let opposite = open.filter { end.leads(to: $0) && $0.leads(to: end) }
            let parallel = open.filter {
                $0.model === end.model && $0.destination === end.destination
            }
            if opposite.count == 1, parallel.count == 1 {
                ends[index].inverse = opposite[0].property
            } else if opposite.count > 1 {
                problems.append(Self.ambiguity(end.name, opposite.map(\.name)))
            }
        }
    }

    private static func ambiguity(_ name: String, _ candidates: [String]) -> String {
        "\(name): the inverse may be \(candidates.joined(separator: " or ")); name it with "
            + "@Relationship(inverse:) on one side"
    }
}
