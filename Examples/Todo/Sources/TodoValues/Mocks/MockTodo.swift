public import LarderData

/// Groups and tasks that are mocks, which change as those of a store do: pages are developed and
/// tested with them before there is a store.
public actor MockTodo: Todo {
    private var groupMocks: [MockGroup]
    private var taskMocks: [MockTask]
    private var nextNumber: Int
    /// The functions that run after each change, by the number of the stream.
    private var updates: [Int: (isolated MockTodo) -> Void] = [:]

    public init(groups: [TodoGroup] = [], tasks: [TodoTask] = []) {
        groupMocks = groups.map(MockGroup.init)
        taskMocks = tasks.map(MockTask.init)
        nextNumber = groups.count + tasks.count + 1
    }

    /// A few groups and tasks.
    public static func sample() -> MockTodo {
        MockTodo(
            groups: [
                TodoGroup(id: .integer(1), title: "Home"),
                TodoGroup(id: .integer(2), title: "Work & travel"),
            ],
            tasks: [
                TodoTask(
                    id: .integer(3), title: "Water the plants", isInMyDay: true,
                    group: .integer(1)),
                TodoTask(
                    id: .integer(4), title: "Pay the rent", priority: .high, group: .integer(1)),
                TodoTask(
                    id: .integer(5), title: "Book <the> train", isCompleted: true,
                    group: .integer(2)),
            ])
    }

    // MARK: - Reading

    public func groups() -> AsyncStream<[TodoGroup]> { stream { $0.groupValues() } }

    public func group(_ id: WrappedID) -> AsyncStream<GroupContents?> {
        stream { todo in
            todo.groupValues().first { $0.id == id }.map { group in
                GroupContents(group: group, tasks: todo.taskValues { $0.group == id })
            }
        }
    }

    public func myDay() -> AsyncStream<[TodoTask]> {
        stream { todo in todo.taskValues { $0.isInMyDay } }
    }

    public func task(_ id: WrappedID) -> AsyncStream<TaskContents?> {
        stream { todo in
            todo.taskValues { $0.id == id }.first.map { task in
                TaskContents(task: task, groups: todo.groupValues())
            }
        }
    }

    private func groupValues() -> [TodoGroup] {
        let fetch = MockableFetch(mocks: groupMocks.map { $0.eraseToAny() })
        return ((try? fetch.values()) ?? []).map { group in
            var group = group
            group.taskCount = taskMocks.count { $0.group == group.id }
            return group
        }.sorted { $0.title < $1.title }
    }

    private func taskValues(where isIncluded: (TodoTask) -> Bool) -> [TodoTask] {
        let fetch = MockableFetch(mocks: taskMocks.map { $0.eraseToAny() })
        return ((try? fetch.values()) ?? []).filter(isIncluded).ordered()
    }

    private func stream<Value: Sendable>(
        of read: @escaping @Sendable (isolated MockTodo) -> Value
    ) -> AsyncStream<Value> {
        let (stream, continuation) = AsyncStream<Value>.makeStream(
            bufferingPolicy: .bufferingNewest(1))
        let number = makeNumber()
        updates[number] = { continuation.yield(read($0)) }
        continuation.onTermination = { [weak self] _ in
            Task { [weak self] in await self?.end(number) }
        }
        continuation.yield(read(self))
        return stream
    }

    private func end(_ number: Int) { updates[number] = nil }

    // MARK: - Changes

    public func createGroup(titled title: String) throws -> WrappedID {
        let group = TodoGroup(id: .integer(makeNumber()), title: try Title.checked(title))
        groupMocks.append(MockGroup(group))
        update()
        return group.id
    }

    public func renameGroup(_ id: WrappedID, to title: String) throws {
        let group = try mock(of: id)
        group.title = try Title.checked(title)
        update()
    }

    public func deleteGroup(_ id: WrappedID) throws {
        _ = try mock(of: id)
        groupMocks.removeAll { $0.wrappedID == id }
        taskMocks.removeAll { $0.group == id }
        update()
    }

    public func createTask(titled title: String, in group: WrappedID) throws -> WrappedID {
        _ = try mock(of: group)
        let task = TodoTask(
            id: .integer(makeNumber()), title: try Title.checked(title), group: group)
        taskMocks.append(MockTask(task))
        update()
        return task.id
    }

    public func updateTask(_ task: TodoTask) throws {
        let mock = try taskMock(of: task.id)
        var task = task
        task.title = try Title.checked(task.title)
        task.group = mock.group
        mock.update(task)
        update()
    }

    public func moveTask(_ id: WrappedID, to group: WrappedID) throws {
        let mock = try taskMock(of: id)
        mock.group = try self.mock(of: group).wrappedID
        update()
    }

    public func deleteTask(_ id: WrappedID) throws {
        _ = try taskMock(of: id)
        taskMocks.removeAll { $0.wrappedID == id }
        update()
    }

    private func mock(of id: WrappedID) throws(TodoError) -> MockGroup {
        guard let mock = groupMocks.first(where: { $0.wrappedID == id }) else {
            throw .unknown(.group)
        }
        return mock
    }

    private func taskMock(of id: WrappedID) throws(TodoError) -> MockTask {
        guard let mock = taskMocks.first(where: { $0.wrappedID == id }) else {
            throw .unknown(.task)
        }
        return mock
    }

    private func makeNumber() -> Int {
        defer { nextNumber += 1 }
        return nextNumber
    }

    private func update() { for update in updates.values { update(self) } }
}
