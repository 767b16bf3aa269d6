import ArgumentParser

/// How a bulk update or delete applies to the objects of an entity.
struct SelectionOptions: ParsableArguments {
    @Flag(help: "Apply to every object of the entity. Required if --where is omitted.")
    var all = false

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "Apply to at most this number of objects, the first in the order of --sort.",
            valueName: "n"))
    var limit: Int64?

    @Flag(help: "Print the URIs of the objects instead of their number.")
    var ids = false

    @Flag(help: "Change nothing; print the number that the change would, or with --ids the URIs.")
    var dryRun = false

    @Flag(help: "Do not ask before --all changes every object. Only a terminal is asked.")
    var yes = false

    /// Whether an argument is an entity: a URI contains a colon, a short identifier a slash, the
    /// name of an entity neither.
    static func isEntity(_ target: String) -> Bool {
        !target.contains(":") && !target.contains("/")
    }
}
