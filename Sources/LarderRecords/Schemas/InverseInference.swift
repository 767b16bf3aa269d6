/// The inverses of the relationships of record types.
///
/// An inverse is named on one side; the other side follows. (The compiler cannot resolve key paths
/// that both sides name: it reports a circular reference.) Where neither side names it, two
/// relationships are inverses if they are the only ones between their entities.
struct InverseInference {
    /// A relationship: its entity, its name, its destination, and its inverse if that is named.
    private struct End: Hashable {
        let entity: String
        let name: String
        let destination: String
        var inverse: String?
    }

    private var ends: [End] = []

    /// - Throws: `SchemaError` for relationships of which several could be inverses.
    init(_ types: [any EntityRecord.Type]) throws(SchemaError) {
        for type in types {
            for property in type.recordProperties {
                guard case .relationship(let destination, _, _) = property.kind else { continue }
                ends.append(
                    End(
                        entity: type.entityName, name: property.name,
                        destination: destination.entityName,
                        inverse: property.options.inverse.map {
                            destination.property(of: $0)?.name ?? "\($0)"
                        }))
            }
        }
        let named = ends.filter { $0.inverse != nil }
        for index in ends.indices where ends[index].inverse == nil {
            let end = ends[index]
            ends[index].inverse =
                named.first {
                    $0.destination == end.entity && $0.inverse == end.name
                        && $0.entity == end.destination
                }?.name
        }
        var problems: [SchemaError.Problem] = []
        let open = ends.filter { $0.inverse == nil }
        for index in ends.indices where ends[index].inverse == nil {
            let end = ends[index]
            let opposite = open.filter {
                $0.entity == end.destination && $0.destination == end.entity && $0 != end
            }
            let parallel = open.filter {
                $0.entity == end.entity && $0.destination == end.destination
            }
            if opposite.count == 1, parallel.count == 1 {
                ends[index].inverse = opposite[0].name
            } else if !opposite.isEmpty, end.entity != end.destination {
                problems.append(Self.ambiguity(of: end, opposite.map(\.name)))
            }
        }
        guard problems.isEmpty else { throw SchemaError(problems: problems) }
    }

    func inverse(of property: RecordProperty, in type: any EntityRecord.Type) -> String? {
        ends.first { $0.entity == type.entityName && $0.name == property.name }?.inverse
    }

    private static func ambiguity(of end: End, _ names: [String]) -> SchemaError.Problem {
        SchemaError.Problem(
            path: "\(end.entity).\(end.name)",
            message: "the inverse may be \(names.joined(separator: " or ")) of "
                + "\(end.destination); name it with @Relationship(inverse:) on one side")
    }
}
