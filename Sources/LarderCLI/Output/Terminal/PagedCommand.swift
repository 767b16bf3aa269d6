/// A command whose output may be longer than the window of a terminal.
protocol PagedCommand {
    var usesPager: Bool { get }
}

extension PagedCommand {
    var usesPager: Bool { true }
}
