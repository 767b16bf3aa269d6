import LarderModel
import LarderQuery
import LarderWire

extension RightsFuzzer {
    // MARK: Random changes of users

    /// A change set like any other, and what it has changed.
    func write(_ user: User) throws {
        var set = ChangeSet([userChange()])
        if chance(4) { set.onUniqueConflict = .upsert }
        set.isDryRun = chance(6)
        try write(set, user, inParts: chance(4) && !set.isDryRun)
    }

    private func userChange() -> Change {
        let tasks = world.tasks.keys.sorted()
        let some = tasks.filter { _ in chance(4) }.map { task($0) }
        let tag = world.tags.keys.sorted().randomElement(using: &random) ?? 0
        let list = world.lists.keys.sorted().randomElement(using: &random) ?? 0
        let done = PropertyAssignment("done", to: .bool(chance(2)))
        switch Int.random(in: 0..<12, using: &random) {
        case 0:
            // An insert with the title of another task, which may be an update.
            let title = tasks.randomElement(using: &random).flatMap { world.tasks[$0]?.title }
            guard let title else { return randomChange() }
            return .insert(new("Task"), values: ["title": .string(title), "done": true])
        case 1:
            let names = Self.taskProperties.filter { $0 == "title" || chance(2) }
            return insertTask(names)
        case 2:
            return .update(object("List", list), ifVersion: nil, values: ["tasks": .objects(some)])
        case 3:
            return .update(object("Tag", tag), ifVersion: nil, values: ["tasks": .objects(some)])
        case 4:
            let edit: RelationshipEdit =
                chance(2) ? .add(some, to: "tasks") : .remove(some, from: "tasks")
            let (entity, key) = chance(2) ? ("List", list) : ("Tag", tag)
            return .update(object(entity, key), ifVersion: nil, values: [:], edits: [edit])
        case 5:
            return .updateAll(
                ObjectSelection(
                    "Task", where: .format("title != nil"), wantsIdentifiers: true), set: [done])
        case 6:
            return .updateAll(
                ObjectSelection("Task", where: .format("list.size > 2")),
                set: [PropertyAssignment("list", to: .null)])
        case 7:
            return chance(2)
                ? .deleteAll(ObjectSelection("Task", where: .format("cost < 1")))
                : .deleteAll(ObjectSelection("List", where: .format("size < 1")))
        default: return randomChange()
        }
    }

    /// Saves a set, and checks what it has changed, and that its reply shows nothing else.
    @discardableResult
    private func write(
        _ set: ChangeSet, _ user: User, inParts: Bool = false
    ) throws -> Result<SaveResult, LarderError> {
        let before = world
        let result = try save(set, user, inParts: inParts)
        switch result {
        case .failure(let error):
            try checkText("\(error) \(error.details)", user, request: "\(set)")
        case .success(let saved):
            let seen = user.rights.visible(before)
            for object in saved.affected.flatMap(\.identifiers) {
                try Self.expect(
                    seen.tasks[object.permanentKey ?? 0] != nil, "\(object) is affected by \(set)")
            }
        }
        try refresh()
        noteWrite(isAccepted: (try? result.get()) != nil)
        if case .failure = result {
            try Self.expect(world == before, "a refused set has changed \(before): \(set)")
        } else if set.isDryRun {
            try Self.expect(world == before, "a dry run has changed \(before): \(set)")
        } else {
            if let text = violation(user.rights, before, world) {
                throw Leak(description: "\(text), by \(set), before \(before)")
            }
        }
        return result
    }

    private func save(
        _ set: ChangeSet, _ user: User, inParts: Bool
    ) throws -> Result<SaveResult, LarderError> {
        let connection = user.connection
        let id: UInt64
        if inParts, set.changes.allSatisfy(\.mayBeSavedInParts), set.conditions.isEmpty {
            id = try connection.open(.saveInParts)
            var parts = ChangeSetParts(set)
            while let part = try parts.next() {
                try connection.send(
                    RequestEnvelope(
                        id: connection.nextID(),
                        request: .savePart(requestID: id, part.content, isLast: part.isLast)))
            }
        } else {
            id = try connection.open(.save(set))
        }
        defer { connection.forget(id) }
        while let reply = try connection.next(id) {
            switch reply {
            case .saved(let result): return .success(result)
            case .savedPart: continue
            case .failed(let error): return .failure(error)
            default: throw Leak(description: "a save has the reply \(reply)")
            }
        }
        throw Leak(description: "a save has no reply")
    }

    // MARK: What a user may change

    /// A change without the right to it; nil if the user had all rights.
    private func violation(
        _ rights: UserRights, _ before: RightsWorld, _ after: RightsWorld
    ) -> String? {
        tasksViolation(rights, before, after) ?? listsViolation(rights, before, after)
            ?? tagsViolation(rights, before, after)
    }

    private func tasksViolation(
        _ rights: UserRights, _ before: RightsWorld, _ after: RightsWorld
    ) -> String? {
        let seen = rights.visible(before)
        for (key, task) in after.tasks {
            guard let old = before.tasks[key] else {
                if !rights.holds(rights.insert, task: key, in: after) {
                    return "\(task) is inserted"
                }
                if let list = task.list, seen.lists[list] == nil, before.lists[list] != nil {
                    return "\(task) is inserted in a list that the user does not see"
                }
                if rights.hidden.contains("Task.cost"), task.cost != 0 { return "a cost is set" }
                if rights.hidden.contains("Task.note"), task.note != nil { return "a note is set" }
                continue
            }
            var (one, other) = (old, task)
            (one.tags, other.tags) = ([], [])
            if one != other {
                guard seen.tasks[key] != nil,
                    rights.holds(rights.update, task: key, in: before),
                    rights.holds(rights.update, task: key, in: after)
                else { return "\(old) is updated to \(task)" }
                if let list = task.list, list != old.list, seen.lists[list] == nil {
                    return "\(old) is moved to a list that the user does not see"
                }
                if rights.hidden.contains("Task.cost"), old.cost != task.cost { return "a cost" }
                if rights.hidden.contains("Task.note"), old.note != task.note { return "a note" }
                let isFrozen =
                    rights.frozen.contains("Task.done") && !(task.isMemo && rights.read.memo != nil)
                if isFrozen, old.done != task.done { return "done of \(old) is frozen" }
            }
            for tag in old.tags.symmetricDifference(task.tags) where after.tags[tag] != nil {
                if let old = before.tags[tag], seen.tags[tag] == nil || seen.tasks[key] == nil {
                    return "\(old) is linked"
                }
                let isChanged = [before, after].allSatisfy {
                    rights.holds(rights.update, task: key, in: $0)
                }
                let isChangedByTag =
                    before.tags[tag] == nil
                    || [before, after].allSatisfy {
                        rights.holds(rights.update, tag: tag, in: $0)
                    }
                if !isChanged && !isChangedByTag { return "\(old) is linked with a tag" }
            }
        }
        for (key, task) in before.tasks where after.tasks[key] == nil {
            if seen.tasks[key] == nil || !rights.holds(rights.delete, task: key, in: before) {
                return "\(task) is deleted"
            }
        }
        return nil
    }

    private func listsViolation(
        _ rights: UserRights, _ before: RightsWorld, _ after: RightsWorld
    ) -> String? {
        let seen = rights.visible(before)
        for (key, list) in after.lists where list != before.lists[key] {
            guard let old = before.lists[key] else {
                if !rights.holds(rights.insert, list: key, in: after) {
                    return "\(list) is inserted"
                }
                continue
            }
            guard seen.lists[key] != nil, rights.holds(rights.update, list: key, in: before),
                rights.holds(rights.update, list: key, in: after)
            else { return "\(old) is updated to \(list)" }
            if rights.hidden.contains("List.size"), old.size != list.size { return "a size" }
        }
        for (key, list) in before.lists where after.lists[key] == nil {
            if seen.lists[key] == nil || !rights.holds(rights.delete, list: key, in: before) {
                return "\(list) is deleted"
            }
        }
        return nil
    }

    private func tagsViolation(
        _ rights: UserRights, _ before: RightsWorld, _ after: RightsWorld
    ) -> String? {
        let seen = rights.visible(before)
        for (key, tag) in after.tags where tag != before.tags[key] {
            guard let old = before.tags[key] else {
                if !rights.holds(rights.insert, tag: key, in: after) { return "\(tag) is inserted" }
                continue
            }
            guard seen.tags[key] != nil, rights.holds(rights.update, tag: key, in: before),
                rights.holds(rights.update, tag: key, in: after)
            else { return "\(old) is updated to \(tag)" }
        }
        for (key, tag) in before.tags where after.tags[key] == nil {
            if seen.tags[key] == nil || !rights.holds(rights.delete, tag: key, in: before) {
                return "\(tag) is deleted"
            }
        }
        return nil
    }

    // MARK: What could show that an object exists

    /// A unique value of an object that the user does not see.
    func uniqueness(_ user: User) throws {
        let seen = user.rights.visible(world)
        let key = world.tasks.keys.sorted().filter { seen.tasks[$0] == nil }
            .randomElement(using: &random)
        guard let key, let title = world.tasks[key]?.title else { return }
        var set = ChangeSet([.insert(new("Task"), values: ["title": .string(title)])])
        if chance(2) { set.onUniqueConflict = .upsert }
        guard case .failure = try write(set, user) else {
            throw Leak(description: "\(title) is saved twice")
        }
    }

    /// The key of another user's save does not show its result.
    func idempotency(_ user: User) throws {
        let key = "key \(UInt64.random(in: 0...UInt64.max, using: &random))"
        let set = ChangeSet([insertList()], idempotencyKey: key)
        var inserted: Set<PersistentIdentifier> = []
        for user in users {
            guard case .success(let result) = try write(set, user) else { continue }
            for object in result.inserted {
                try Self.expect(
                    inserted.insert(object).inserted, "\(object) is the result of another user")
            }
        }
    }

    /// A request that names an object which the user does not see has the reply of one that names
    /// no object.
    func missingObject(_ user: User) throws {
        let seen = user.rights.visible(world)
        let key = world.tasks.keys.sorted().filter { seen.tasks[$0] == nil }
            .randomElement(using: &random)
        guard let key else { return }
        let missing = Int64(999_999)
        let entity = world.tasks[key]?.entityName ?? ""
        let list = seen.lists.keys.sorted().randomElement(using: &random) ?? missing
        let form = Int.random(in: 0..<7, using: &random)
        let number = String(Int64.random(in: 0...Int64.max, using: &random))
        func request(_ key: Int64) -> Request {
            let object = object(entity, key)
            switch form {
            case 0: return .get([object], properties: nil)
            case 1:
                return .save(
                    ChangeSet([.update(object, ifVersion: nil, values: ["title": "x"])]))
            case 2: return .save(ChangeSet([.delete(object, ifVersion: nil)]))
            case 3:
                return .save(
                    ChangeSet([.update(object, ifVersion: 1, values: ["done": true])]))
            case 4:
                return .save(
                    ChangeSet([
                        .insert(
                            new("Tag"),
                            values: ["name": .string(number), "tasks": .objects([object])])
                    ]))
            case 5:
                return .save(
                    ChangeSet([
                        .update(
                            self.object("List", list), ifVersion: nil, values: [:],
                            edits: [.add([object], to: "tasks")])
                    ]))
            default:
                return .save(
                    ChangeSet([
                        .update(object, ifVersion: nil, values: [:], base: ["title": "x"])
                    ]))
            }
        }
        let replies = try [key, missing].map { key in
            let reply = String(describing: try user.connection.reply(to: request(key)))
            return reply.replacing("/\(entity)/p\(key)", with: "/\(entity)/p#")
                .replacing("key: \(key)", with: "key: #")
        }
        let before = world
        try refresh()
        try Self.expect(
            replies[0] == replies[1] && world == before,
            "\(request(key)) has the reply \(replies[0]), not \(replies[1])")
    }

    /// The number of objects that must match a predicate is that of those that the user sees.
    func condition(_ user: User) throws {
        let reads = RightsRead.all(using: &random).filter { read in
            if case .count = read.query { read.query.entityName == "Task" } else { false }
        }
        guard let read = reads.randomElement(using: &random),
            case .count(let entity, let predicate, _) = read.query
        else { return }
        let expected = expected(read, user, world)
        let count = Int64.random(in: 0...16, using: &random)
        let counts = [expected.flatMap { Int64($0[0]) }, Int64(world.tasks.count), count]
        for count in counts.compactMap(\.self) {
            let set = ChangeSet(
                [.insert(new("Mark"), values: ["number": 0])],
                conditions: [
                    ChangeSet.Condition(
                        ObjectSelection(entity, where: predicate), count: count)
                ])
            let found: Outcome
            switch try write(set, user) {
            case .success: found = .rows([])
            case .failure(let error): found = .failed(error.code)
            }
            let isRight =
                switch (found, expected) {
                case (.rows, let expected?): expected == ["\(count)"]
                case (.failed(.conditionFailed), let expected?): expected != ["\(count)"]
                case (.failed(let code), nil): [.unknownProperty, .unknownEntity].contains(code)
                default: false
                }
            try Self.expect(
                isRight, "\(count) of \(read.name): \(found), not \(String(describing: expected))")
        }
    }

    /// Rows of a stream, of which some may not be inserted.
    func insertStream(_ user: User) throws {
        let description = store.storeDescription
        guard let entity = description.schema.entity(named: "List") else { return }
        var builder = try RowBuilder(
            entity, ["owner"], in: description.schema, store: description.identifier)
        for _ in 0..<3 { try builder.append([.string(owner())]) }
        let before = world
        let connection = user.connection
        let id = try connection.open(.insertRows(Insertion("List", wantsIdentifiers: chance(2))))
        try connection.send(
            RequestEnvelope(
                id: connection.nextID(),
                request: .rows(requestID: id, builder.take(), isLast: true)))
        defer { connection.forget(id) }
        var reply = try connection.next(id)
        while case .inserted(_, more: true) = reply { reply = try connection.next(id) }
        try refresh()
        var isAccepted = false
        if case .inserted = reply { isAccepted = true }
        noteWrite(isAccepted: isAccepted)
        if case .failed(let error) = reply { try checkText("\(error)", user) }
        let isRight = isAccepted ? violation(user.rights, before, world) == nil : before == world
        try Self.expect(
            isRight, "rows: \(String(describing: reply)), \(before) and \(world)")
    }
}
