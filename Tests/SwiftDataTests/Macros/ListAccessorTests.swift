import Testing

@Suite("The accessors of lists")
struct ListAccessorTests {
    @Test("an array property is edited in place, unless it has observers")
    func lists() {
        func isEditedInPlace(_ property: String) -> Bool {
            MacroExpansion(
                """
                class Item {
                    @_PersistedProperty(0) \(property)
                    init() {}
                }
                """
            ).contains(
                """
                _modify {
                    yield &_$values_Item[of: self, \\Item.parts, at: Item._$firstSlot_Item + 0]
                }
                """)
        }
        for property in [
            "var parts: [Part] = []", "var parts: [Part]?", "var parts: [Part]!",
            "var parts: Array<Part>", "var parts: Swift.Array<Part>", "var parts = [Part]()",
            "private(set) var parts = [Part]?.some([])",
        ] {
            #expect(isEditedInPlace(property), "\(property)")
        }
        for property in [
            "var parts: Part?", "var parts: Parts", "var parts = Part()",
            "var parts: [String: Part]",
            "var parts: [Part] = [] { didSet {} }",
        ] {
            #expect(!isEditedInPlace(property), "\(property)")
        }
    }
}
