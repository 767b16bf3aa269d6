/// The inverses of the relationships of models.
///
/// An inverse is named on one side by `@Relationship(inverse:)`, and the other side follows. Where
/// neither side names it, two relationships are inverses if they are the only ones between their
/// models. A relationship of a model to itself has no inverse unless it is named.
///
/// A relationship whose inverse is ambiguous has none, and neither has one that names an inverse
/// which is that of another relationship. Both keep their models.
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
    /// The assumptions about relationships whose inverse the classes leave open.
    private(set) var assumptions: [String] = []

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

    /// Inverses that name each other come first, then those of relationships that name none.
    private mutating func resolveNamed() {
        var named: [(index: Int, partner: Int, rank: Int)] = []
        for index in ends.indices {
            guard let keyPath = ends[index].named else { continue }
            let end = ends[index]
            guard let inverse = end.destination.property(of: keyPath), inverse.destination != nil
            else {
                problems.append(
                    "\(end.name): the inverse \(keyPath) is not a persisted relationship of "
                        + end.destination.entityName)
                continue
            }
            let partner = ends.firstIndex {
                $0.model === end.destination && $0.property.name == inverse.name
            }
            guard let partner, ends[partner].leads(to: end) else {
                assume(
                    index,
                    "`\(end.destination.entityName).\(inverse.name)` is inherited or leads "
                        + "to another model")
                continue
            }
            let back = ends[partner].named
            let namesBack = back.map { end.model.property(of: $0)?.name == end.property.name }
            let rank = namesBack.map { $0 ? 0 : 2 } ?? 1
            named.append((index, partner, rank))
        }
        for rank in 0...2 {
            for each in named where each.rank == rank { pair(each.index, each.partner) }
        }
    }

    private mutating func pair(_ index: Int, _ partner: Int) {
        let (end, other) = (ends[index], ends[partner])
        if end.inverse?.name == other.property.name, other.inverse?.name == end.property.name {
            return
        }
        guard end.inverse == nil, other.inverse == nil else {
            let taken = end.inverse == nil ? other : end
            let owner = "\(taken.destination.entityName).\(taken.inverse?.name ?? "")"
            assume(
                index,
                "\(taken.name) is that of \(owner); name another one with "
                    + "@Relationship(inverse:), or none")
            return
        }
        ends[index].inverse = other.property
        ends[partner].inverse = end.property
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
                assume(
                    index,
                    "it may be \(opposite.map(\.name).joined(separator: " or ")); name it "
                        + "with @Relationship(inverse:) on one side")
            }
        }
    }

    private mutating func assume(_ index: Int, _ reason: String) {
        assumptions.append("\(ends[index].name) has no inverse, because \(reason)")
    }
}
