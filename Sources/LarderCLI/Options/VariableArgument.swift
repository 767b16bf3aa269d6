import ArgumentParser

/// `NAME=VALUE`: what `$NAME` in a predicate stands for.
struct VariableArgument: ExpressibleByArgument {
    let name: String
    let value: String

    init?(argument: String) {
        guard let end = argument.firstIndex(of: "="), end > argument.startIndex else { return nil }
        name = String(argument[..<end])
        value = String(argument[argument.index(after: end)...])
    }
}
