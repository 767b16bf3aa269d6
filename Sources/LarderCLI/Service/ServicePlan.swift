import LarderModel
import LarderPrograms

/// The steps of creating or removing a service, which are performed completely or undone.
struct ServicePlan {
    let steps: [ServiceStep]
    /// Steps that are performed after an error, before the files that were created are removed.
    private let cleanup: [ServiceStep]

    /// The settings of a new service.
    struct Creation {
        var name: String
        /// The text of the schema file to write; nil if it exists already.
        var schema: String?
        /// The text of the policy to write; nil if there is none, or if it exists already.
        var policy: String?
        /// Whether the server has a policy.
        var hasPolicy: Bool
        /// Whether the store exists, and has to belong to the user of the service.
        var adoptsStore: Bool
        /// The group whose members may connect; nil for that of the unit.
        var group: String?
        /// The number of daily backups that are kept; nil for no backups.
        var backupsMax: Int?
    }

    static func creating(_ service: Creation, in layout: ServiceLayout) -> ServicePlan {
        let name = service.name
        var steps: [ServiceStep] = [.makeFolder(layout.configurationFolder, permissions: 0o755)]
        if layout.isOfUser { steps.append(.makeFolder(layout.storeFolder, permissions: 0o700)) }
        if let schema = service.schema {
            steps.append(.write(schema, to: layout.schemaFile(name)))
        }
        if let policy = service.policy {
            steps.append(.write(policy, to: layout.policyFile(name)))
        }
        steps.append(
            .write(
                configuration(name, hasPolicy: service.hasPolicy, in: layout),
                to: layout.configurationFile(name)))
        if service.adoptsStore, !layout.isOfUser {
            steps.append(.giveToOwner(of: layout.storeFolder, file: layout.storeFile(name)))
        }
        if let group = service.group {
            steps += settings("[Socket]\nSocketGroup=\(group)\n", of: .socket, name, layout)
        }
        if let count = service.backupsMax {
            steps += settings("[Service]\nEnvironment=KEEP=\(count)\n", of: .backup, name, layout)
        }
        if layout.hasManager { steps.append(.run(layout.systemctl(["daemon-reload"]))) }
        var units = [ServiceLayout.socketUnit(name)]
        if service.backupsMax != nil { units.append(ServiceLayout.backupTimer(name)) }
        let start = layout.hasManager ? ["--now"] : []
        steps.append(.run(layout.systemctl(["enable"] + start + units)))
        return ServicePlan(steps: steps, cleanup: stopping(name, in: layout))
    }

    /// - Parameter deletesStore: Whether the store is deleted, too. Its backups are not.
    static func removing(
        _ name: String, deletesStore: Bool, in layout: ServiceLayout
    ) -> ServicePlan {
        var steps = stopping(name, in: layout)
        for unit in ConfiguredUnit.allCases {
            let file = layout.settings(of: unit.name(name))
            steps += [.remove(file), .removeEmptyFolder(folder(of: file))]
        }
        steps += [
            layout.configurationFile(name), layout.schemaFile(name), layout.policyFile(name),
        ].map { .remove($0) }
        if layout.hasManager { steps.append(.run(layout.systemctl(["daemon-reload"]))) }
        if deletesStore {
            // The file first: without its log it would be a store of an earlier state.
            steps += ["", "-wal", "-journal", ".owner"].map {
                .remove(layout.storeFile(name) + $0)
            }
        }
        return ServicePlan(steps: steps, cleanup: [])
    }

    /// The steps that stop a service, and remove the links to its units.
    private static func stopping(_ name: String, in layout: ServiceLayout) -> [ServiceStep] {
        let started = [ServiceLayout.socketUnit(name), ServiceLayout.backupTimer(name)]
        guard layout.hasManager else {
            return [.run(layout.systemctl(["disable"] + started))]
        }
        let running = [ServiceLayout.serviceUnit(name), ServiceLayout.backupService(name)]
        return [
            .run(layout.systemctl(["disable", "--now"] + started)),
            .run(layout.systemctl(["stop"] + running)),
            // A unit that has failed would be listed for ever.
            .attempt(layout.systemctl(["reset-failed"] + started + running)),
        ]
    }

    /// The units that get settings of a service.
    private enum ConfiguredUnit: CaseIterable {
        case socket
        case backup

        func name(_ service: String) -> String {
            switch self {
            case .socket: ServiceLayout.socketUnit(service)
            case .backup: ServiceLayout.backupService(service)
            }
        }
    }

    /// The text of the configuration file.
    private static func configuration(
        _ name: String, hasPolicy: Bool, in layout: ServiceLayout
    ) -> String {
        var settings = [
            ("store", layout.storeFile(name)), ("schema", layout.schemaFile(name)),
        ]
        if hasPolicy { settings.append(("policy", layout.policyFile(name))) }
        var lines = [
            "# Written by `larder service create`. `man larderd` lists the settings; after a",
            "# change, systemctl restart \(ServiceLayout.serviceUnit(name))",
        ]
        lines += settings.map {
            "\($0) = \(ConfigurationText.quoted(layout.pathInSystem($1)))"
        }
        // Seconds: the next connection starts the server of a user again.
        if layout.isOfUser { lines.append("idle-exit = 600") }
        return lines.joined(separator: "\n") + "\n"
    }

    private static func settings(
        _ text: String, of unit: ConfiguredUnit, _ name: String, _ layout: ServiceLayout
    ) -> [ServiceStep] {
        let file = layout.settings(of: unit.name(name))
        return [
            .makeFolder(folder(of: file), permissions: 0o755),
            .write("# Written by `larder service create`.\n" + text, to: file),
        ]
    }

    private static func folder(of file: String) -> String {
        file.lastIndex(of: "/").map { String(file[..<$0]) } ?? "."
    }

    /// Performs the steps, and then the check. After an error, what was done is undone.
    func perform(check: () throws -> Void = {}) throws {
        var undo: [ServiceStep] = []
        do {
            for step in steps { undo = try step.perform() + undo }
            try check()
        } catch {
            for step in cleanup + undo { _ = try? step.perform() }
            throw error
        }
    }
}
