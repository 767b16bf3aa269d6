extension Schema {
    /// Sixteen hexadecimal digits that are equal for equivalent schemas.
    ///
    /// The fingerprint is a hash of the sorted facts that `SchemaDifference` compares, so the
    /// order of keys in a file and of entities, properties and lists does not matter. Neither do
    /// original names, because a renamed property has the same values. The hash is 64-bit FNV-1a:
    /// it distinguishes versions of a schema and does not resist deliberate collisions.
    public var fingerprint: String {
        var checksum = Checksum()
        for fact in facts.sorted() {
            checksum.append(fact.utf8)
            // The byte 0xFF does not occur in UTF-8, so it separates facts unambiguously.
            checksum.append(0xFF)
        }
        let digits = String(checksum.value, radix: 16)
        return String(repeating: "0", count: 16 - digits.utf8.count) + digits
    }

    private var facts: [String] {
        var facts = ["version \(version)"]
        for entity in entities {
            facts.append("entity \(entity.name)")
            if let parent = entity.parent { facts.append("\(entity.name): parent \(parent)") }
            if entity.isAbstract { facts.append("\(entity.name): abstract") }
            if let modifier = entity.hashModifier {
                facts.append("\(entity.name): hashModifier \(modifier)")
            }
            if entity.declared.recordsValues { facts.append("\(entity.name): history values") }
            facts += Set(entity.lists).map { "\(entity.name): \($0)" }
            for name in entity.propertyNames {
                // Facets with their default values are omitted if they were added after the first
                // version, so that the fingerprints of older schemas do not change.
                let facets = (entity.property(named: name)?.facets ?? []).filter {
                    Facet.laterDefaults[$0.name] != $0.value
                }
                facts += facets.map { "\(entity.name).\(name): \($0.name) \($0.value)" }
            }
        }
        return facts
    }
}
