extension Schema {
    /// Sixteen hexadecimal digits that are equal where schemas say the same.
    ///
    /// They are made of the facts that ``SchemaDifference`` compares, sorted: neither the order of
    /// keys in a file counts, nor that of entities, properties and lists. FNV-1a, 64 bits: it
    /// tells versions of a schema apart, and is no protection against someone who wants a
    /// collision.
    public var fingerprint: String {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for fact in facts.sorted() {
            // The byte 0xFF is in no text, so facts cannot run into each other.
            for byte in Array(fact.utf8) + [0xFF] {
                hash = (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01B3
            }
        }
        let digits = String(hash, radix: 16)
        return String(repeating: "0", count: 16 - digits.utf8.count) + digits
    }

    private var facts: [String] {
        var facts = ["version \(version)"]
        for entity in entities {
            facts.append("entity \(entity.name)")
            if let parent = entity.parent { facts.append("\(entity.name): parent \(parent)") }
            if entity.isAbstract { facts.append("\(entity.name): abstract") }
            facts += Set(entity.lists).map { "\(entity.name): \($0)" }
            for name in entity.propertyNames {
                // Where a later facet is not said, the fingerprint is as it always was.
                let facets = (entity.property(named: name)?.facets ?? []).filter {
                    Facet.laterDefaults[$0.name] != $0.value
                }
                facts += facets.map { "\(entity.name).\(name): \($0.name) \($0.value)" }
            }
        }
        return facts
    }
}
