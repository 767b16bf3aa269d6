import LarderModel
import LarderQuery
import TestSupport

/// The rights of a user, with their meaning as functions of a ``RightsWorld``.
struct UserRights {
    enum ListRule: String, CaseIterable {
        case granted = "true"
        case denied = "false"
        case own = "owner == $user"
        case large = "size > 2"
        case busy = "ANY tasks.done == true"
        case grouped = "owner IN $groups OR size == 0"
    }

    enum TaskRule: String, CaseIterable {
        case granted = "true"
        case denied = "false"
        case done = "done == true"
        case cheap = "cost < 5"
        case own = "list.owner == $user"
        case free = "list == nil"
        case tagged = "ANY tags.name == $user"
        case noted = "note != nil AND NOT (cost == 3)"
    }

    enum TagRule: String, CaseIterable {
        case granted = "true"
        case denied = "false"
        case own = "name == $user"
        case used = "SUBQUERY(tasks, $t, $t.done == true).@count > 0"
    }

    struct Rules {
        var list: ListRule
        var task: TaskRule
        /// nil if `Memo` is not named, and has the rule of its parent.
        var memo: TaskRule?
        var tag: TagRule

        func ofTask(_ isMemo: Bool) -> TaskRule { isMemo ? memo ?? task : task }
    }

    private(set) var user: UInt32
    var read: Rules
    var insert: Rules
    var update: Rules
    var delete: Rules
    /// Such as `Task.cost`.
    var hidden: Set<String>
    var frozen: Set<String>
    /// Names of entities.
    var watches: Set<String>
    var history: Set<String>
    var rights: Set<Role.StoreRight>

    /// The user has no name, so that this is `$user`.
    var name: String { String(user) }
    /// The connections of the test have the group 0.
    static let groups = ["root"]
    static let hideable = ["List.size", "Task.cost", "Task.note", "Task.list", "Task.tags"]

    static func random(
        _ user: UInt32, using generator: inout SeededGenerator
    ) -> UserRights {
        func chance(_ count: Int) -> Bool { Int.random(in: 0..<count, using: &generator) == 0 }
        let namesMemo = chance(3)
        // Half of all rules grant, or there would be little to see and to do.
        func one<Rule: CaseIterable & Equatable>(_ granted: Rule) -> Rule {
            chance(3) ? granted : Rule.allCases.randomElement(using: &generator) ?? granted
        }
        func rules() -> Rules {
            Rules(
                list: one(.granted), task: one(.granted), memo: namesMemo ? one(.granted) : nil,
                tag: one(.granted))
        }
        var made = UserRights(
            user: user, read: rules(), insert: rules(), update: rules(), delete: rules(),
            hidden: [], frozen: [], watches: [], history: [], rights: [])
        for name in hideable where chance(8) { made.hidden.insert(name) }
        if chance(4) { made.frozen.insert("Task.done") }
        for name in ["List", "Task", "Tag"] {
            if !chance(6) { made.watches.insert(name) }
            if !chance(6) { made.history.insert(name) }
        }
        for name in [made.watches, made.history].indices {
            let path = name == 0 ? \UserRights.watches : \UserRights.history
            if made[keyPath: path].contains("Task") { made[keyPath: path].insert("Memo") }
        }
        for right in Role.StoreRight.allCases where chance(5) { made.rights.insert(right) }
        return made
    }

    /// These rights for another user.
    func of(_ user: UInt32) -> UserRights {
        var other = self
        other.user = user
        return other
    }

    // MARK: The policy

    func role(_ name: String, of users: [String]) -> Role {
        var role = Role(name: name)
        role.users = users
        role.rights = rights
        func rule(_ text: String) -> EntityRights.Rule {
            text == "true" ? .granted : text == "false" ? .denied : .when(text)
        }
        func entity(_ name: String, _ text: (Rules) -> String) -> EntityRights {
            func names(_ set: Set<String>) -> Set<String> {
                Set(
                    set.filter { $0.hasPrefix("\(name).") }.map {
                        String($0.dropFirst(name.count + 1))
                    })
            }
            return EntityRights(
                rules: [
                    .read: rule(text(read)), .insert: rule(text(insert)),
                    .update: rule(text(update)), .delete: rule(text(delete)),
                ], watches: watches.contains(name), readsHistory: history.contains(name),
                hidden: names(hidden), frozen: names(frozen))
        }
        role.entities["List"] = entity("List", \.list.rawValue)
        role.entities["Task"] = entity("Task", \.task.rawValue)
        if read.memo != nil { role.entities["Memo"] = entity("Memo") { $0.ofTask(true).rawValue } }
        role.entities["Tag"] = entity("Tag", \.tag.rawValue)
        role.entities["Mark"] = EntityRights(
            rules: [.read: .granted, .insert: .granted], watches: true, readsHistory: true)
        return role
    }

    // MARK: Rules

    func holds(_ rules: Rules, list key: Int64, in world: RightsWorld) -> Bool {
        guard let list = world.lists[key] else { return false }
        return switch rules.list {
        case .granted: true
        case .denied: false
        case .own: list.owner == name
        case .large: list.size > 2
        case .busy: world.tasks(ofList: key).contains { $0.value.done }
        case .grouped: Self.groups.contains(list.owner) || list.size == 0
        }
    }

    func holds(_ rules: Rules, task key: Int64, in world: RightsWorld) -> Bool {
        guard let task = world.tasks[key] else { return false }
        return switch rules.ofTask(task.isMemo) {
        case .granted: true
        case .denied: false
        case .done: task.done
        case .cheap: task.cost < 5
        case .own: world.owner(of: task) == name
        case .free: task.list == nil
        case .tagged: task.tags.contains { world.tags[$0]?.name == name }
        case .noted: task.note != nil && task.cost != 3
        }
    }

    func holds(_ rules: Rules, tag key: Int64, in world: RightsWorld) -> Bool {
        guard let tag = world.tags[key] else { return false }
        return switch rules.tag {
        case .granted: true
        case .denied: false
        case .own: tag.name == name
        case .used: world.tasks(ofTag: key).contains { $0.value.done }
        }
    }

    /// The objects that the user may read, without references to others.
    func visible(_ world: RightsWorld) -> RightsWorld {
        var seen = world
        seen.lists = world.lists.filter { holds(read, list: $0.key, in: world) }
        seen.tasks = world.tasks.filter { holds(read, task: $0.key, in: world) }
        seen.tags = world.tags.filter { holds(read, tag: $0.key, in: world) }
        for key in seen.tasks.keys {
            if let list = seen.tasks[key]?.list, seen.lists[list] == nil {
                seen.tasks[key]?.list = nil
            }
            seen.tasks[key]?.tags.formIntersection(seen.tags.keys)
        }
        return seen
    }

    // MARK: Names

    /// Whether the user's schema has an entity.
    func has(_ entityName: String) -> Bool {
        switch entityName {
        case "List": read.list != .denied
        case "Memo": read.ofTask(true) != .denied
        case "Task": read.task != .denied || read.ofTask(true) != .denied
        case "Tag": read.tag != .denied
        default: true
        }
    }

    /// Whether it has a property, such as `Task.cost`, or an entity.
    func has(name: String) -> Bool {
        let parts = name.split(separator: ".").map(String.init)
        guard has(parts[0]) else { return false }
        guard parts.count == 2 else { return true }
        let declared = parts[0] == "Memo" ? "Task.\(parts[1])" : name
        if hidden.contains(declared) { return false }
        return switch declared {
        case "Task.list": has("List")
        case "Task.tags": has("Tag")
        case "List.tasks", "Tag.tasks": has("Task")
        default: true
        }
    }

    /// Whether some but not all objects of an entity may be read.
    func readsPart(of entityName: String) -> Bool {
        switch entityName {
        case "List": ![.granted, .denied].contains(read.list)
        case "Memo": ![.granted, .denied].contains(read.ofTask(true))
        case "Task": ![.granted, .denied].contains(read.task)
        case "Tag": ![.granted, .denied].contains(read.tag)
        default: false
        }
    }

    /// Whether the user sees less than the whole store.
    var isLimited: Bool {
        !hidden.isEmpty || read.list != .granted || read.task != .granted
            || read.ofTask(true) != .granted || read.tag != .granted
    }
}
