import ArgumentParser
import LarderModel

/// `KEYPATH`, `KEYPATH:asc` or `KEYPATH:desc`. What stands in front of the direction may hold a
/// colon itself, as an aggregate's `sum:wordCount` does.
struct SortArgument: ExpressibleByArgument {
    let key: SortKey

    init?(argument: String) {
        var name = argument[...]
        var isDescending = false
        if name.hasSuffix(":desc") {
            name = name.dropLast(5)
            isDescending = true
        } else if name.hasSuffix(":asc") {
            name = name.dropLast(4)
        }
        guard !name.isEmpty else { return nil }
        self.key = SortKey(String(name), descending: isDescending)
    }
}
