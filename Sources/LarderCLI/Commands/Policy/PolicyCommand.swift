import ArgumentParser

struct PolicyCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "policy",
        abstract: "Check a policy file, or show what a user may do by it.",
        discussion: """
            EXAMPLES:
              larder policy check school.policy --schema school.json
              larder policy test school.policy --schema school.json --as ann
              larder policy test school.policy --store school.store --as ann Student

            docs/policies.md describes the policy file.
            """,
        subcommands: [PolicyCheckCommand.self, PolicyTestCommand.self])
}
