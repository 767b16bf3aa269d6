import LarderModel

/// Runs `systemctl`, which talks to the manager of the system or of a user.
enum Systemctl {
    /// - Throws: `storageFailed` with what the command printed, if it fails.
    static func run(_ command: [String]) throws(LarderError) {
        let (end, output) = try result(of: command)
        guard end != .exited(0) else { return }
        let isUnknown = output.contains("does not exist") || output.contains("not found")
        throw LarderError(
            .storageFailed, "\(command.joined(separator: " ")) failed",
            hint: isUnknown
                ? "install the units, with the package larder or with scripts/install" : nil,
            problems: output.split(separator: "\n").map(String.init))
    }

    /// The states of units: `active`, `inactive`, `failed` and others, in the order of the units.
    static func states(of units: [String], _ layout: ServiceLayout) throws(LarderError) -> [String]
    {
        guard !units.isEmpty else { return [] }
        // It fails if a unit is not active.
        let (_, output) = try result(of: layout.systemctl(["is-active"] + units))
        let states = output.split(separator: "\n").map(String.init)
        guard states.count == units.count else {
            throw LarderError(
                .storageFailed, "systemctl is-active did not report the state of each unit",
                problems: states)
        }
        return states
    }

    private static func result(
        of command: [String]
    ) throws(LarderError) -> (end: ChildProcess.End, output: String) {
        do throws(SystemError) {
            return try ChildProcess.run(command)
        } catch {
            throw LarderError(.storageFailed, "cannot run \(command[0]): \(error.text)")
        }
    }
}
