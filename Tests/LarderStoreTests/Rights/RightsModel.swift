/// Lists and their tasks in memory, and what a user with random rights may do with them: a model
/// for the changes of a store, independent of SQL and of the evaluator.
struct RightsModel: Equatable {
    struct List: Equatable {
        var owner: String
        var size: Int64
    }

    struct Task: Equatable {
        var title: String
        var done: Bool
        var cost: Int64
        var list: Int64?
    }

    enum ListRule: String, CaseIterable {
        case granted = "true"
        case denied = "false"
        case own = "owner == $user"
        case large = "size > 2"
    }

    enum TaskRule: String, CaseIterable {
        case granted = "true"
        case denied = "false"
        case done = "done == true"
        case cheap = "cost < 5"
        case own = "list.owner == $user"
        case free = "list == nil"
    }

    struct Rights: Equatable {
        var list: ListRule
        var task: TaskRule
    }

    enum Change {
        case insertList(List)
        /// `upserting` updates the task with the title, if there is one.
        case insertTask(Task, upserting: Bool)
        case updateList(Int64, List)
        case updateTask(Int64, Task)
        /// Makes these the tasks of a list.
        case setTasks(Int64, [Int64])
        case addTask(Int64, Int64)
        case removeTask(Int64, Int64)
        case deleteList(Int64)
        case deleteTask(Int64)
        /// Changes the tasks that cost less than this.
        case setDone(costBelow: Int64, Bool)
        case setCost(costBelow: Int64, Int64)
        case deleteTasks(costBelow: Int64)
        case deleteLists(sizeBelow: Int64)
    }

    static let user = "ann"

    var lists: [Int64: List] = [:]
    var tasks: [Int64: Task] = [:]
    var read = Rights(list: .granted, task: .granted)
    var insert = Rights(list: .granted, task: .granted)
    var update = Rights(list: .granted, task: .granted)
    var delete = Rights(list: .granted, task: .granted)

    // MARK: Rules

    func holds(_ right: Rights, list key: Int64) -> Bool {
        guard let list = lists[key] else { return false }
        return switch right.list {
        case .granted: true
        case .denied: false
        case .own: list.owner == Self.user
        case .large: list.size > 2
        }
    }

    func holds(_ right: Rights, task key: Int64) -> Bool {
        guard let task = tasks[key] else { return false }
        return switch right.task {
        case .granted: true
        case .denied: false
        case .done: task.done
        case .cheap: task.cost < 5
        case .own: task.list.flatMap { lists[$0]?.owner } == Self.user
        case .free: task.list == nil
        }
    }

    private func may(_ right: Rights, list key: Int64) -> Bool {
        holds(read, list: key) && holds(right, list: key)
    }

    private func may(_ right: Rights, task key: Int64) -> Bool {
        holds(read, task: key) && holds(right, task: key)
    }

    // MARK: Changes

    /// The model after a change; nil if the user may not make it.
    ///
    /// - Parameter key: The key of an object that is inserted.
    func after(_ change: Change, inserting key: Int64) -> RightsModel? {
        switch change {
        case .insertList, .insertTask: inserted(change, key)
        case .updateList, .updateTask: updated(change)
        case .setTasks, .addTask, .removeTask: related(change)
        case .deleteList, .deleteTask, .deleteTasks, .deleteLists: deleted(change)
        case .setDone, .setCost: updatedAll(change)
        }
    }

    private func inserted(_ change: Change, _ key: Int64) -> RightsModel? {
        var model = self
        switch change {
        case .insertList(let list):
            model.lists[key] = list
            return model.holds(insert, list: key) ? model : nil
        case .insertTask(let task, let upserting):
            guard insert.task != .denied else { return nil }
            if let list = task.list, !holds(read, list: list) { return nil }
            if let known = tasks.first(where: { $0.value.title == task.title })?.key {
                guard upserting, may(update, task: known) else { return nil }
                model.tasks[known] = task
                return model.holds(update, task: known) ? model : nil
            }
            model.tasks[key] = task
            return model.holds(insert, task: key) ? model : nil
        default: return nil
        }
    }

    private func updated(_ change: Change) -> RightsModel? {
        var model = self
        switch change {
        case .updateList(let key, let list):
            guard may(update, list: key) else { return nil }
            model.lists[key] = list
            return model.holds(update, list: key) ? model : nil
        case .updateTask(let key, let task):
            guard may(update, task: key) else { return nil }
            if let list = task.list, list != tasks[key]?.list, !holds(read, list: list) {
                return nil
            }
            model.tasks[key] = task
            return model.holds(update, task: key) ? model : nil
        default: return nil
        }
    }

    /// Changes of the tasks of a list need the right to update it, and each task that changes.
    private func related(_ change: Change) -> RightsModel? {
        var model = self
        let list: Int64
        var changed: Set<Int64>
        switch change {
        case .setTasks(let key, let keys):
            list = key
            let members = Set(tasks.filter { $0.value.list == key }.keys)
            changed = Set(keys).union(members.subtracting(keys))
            for task in members { model.tasks[task]?.list = nil }
            for task in keys { model.tasks[task]?.list = key }
        case .addTask(let key, let task):
            (list, changed) = (key, [task])
            model.tasks[task]?.list = key
        case .removeTask(let key, let task):
            (list, changed) = (key, [task])
            model.tasks[task]?.list = nil
        default: return nil
        }
        guard may(update, list: list), changed.allSatisfy({ may(update, task: $0) }),
            changed.allSatisfy({ model.holds(update, task: $0) })
        else { return nil }
        return model
    }

    private func deleted(_ change: Change) -> RightsModel? {
        var (lists, tasks): ([Int64], [Int64]) = ([], [])
        switch change {
        case .deleteList(let key): lists = [key]
        case .deleteTask(let key): tasks = [key]
        case .deleteTasks(let cost):
            guard delete.task != .denied else { return nil }
            tasks = self.tasks.filter { $0.value.cost < cost && may(delete, task: $0.key) }
                .map(\.key)
        case .deleteLists(let size):
            guard delete.list != .denied else { return nil }
            lists = self.lists.filter { $0.value.size < size && may(delete, list: $0.key) }
                .map(\.key)
        default: return nil
        }
        // A deletion cascades to the tasks of a list.
        tasks += self.tasks.filter { $0.value.list.map(lists.contains) ?? false }.map(\.key)
        guard lists.allSatisfy({ may(delete, list: $0) }),
            tasks.allSatisfy({ may(delete, task: $0) })
        else { return nil }
        var model = self
        for key in lists { model.lists[key] = nil }
        for key in tasks { model.tasks[key] = nil }
        return model
    }

    private func updatedAll(_ change: Change) -> RightsModel? {
        guard update.task != .denied else { return nil }
        var model = self
        for (key, task) in tasks where may(update, task: key) {
            switch change {
            case .setDone(let cost, let done) where task.cost < cost:
                model.tasks[key]?.done = done
            case .setCost(let below, let cost) where task.cost < below:
                model.tasks[key]?.cost = cost
            default: continue
            }
            guard model.holds(update, task: key) else { return nil }
        }
        return model
    }
}
