import ArgumentParser

/// `NAME=VALUE`: the value of `$NAME` in a predicate.
struct VariableArgument: ExpressibleByArgument {
    let name: String
    let value: String

    init(name: String, value: String) {
        self.name = name
        self.value = value
    }

    init?(argument: String) {
        guard let end = argument.firstIndex(of: "="), end > argument.startIndex else { return nil }
        name = String(argument[..<end])
        value = String(argument[argument.index(after: end)...])
    }
}
