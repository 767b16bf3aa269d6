public import LarderData

/// Groups and tasks, wherever they are: in a store, or mocks.
public protocol Todo: Sendable {
    /// The groups by title, now and after every change.
    func groups() async throws -> AsyncStream<[TodoGroup]>

    /// A group with its tasks, now and after every change; nil while there is no such group.
    func group(_ id: WrappedID) async throws -> AsyncStream<GroupContents?>

    /// The tasks for today of all groups, now and after every change.
    func myDay() async throws -> AsyncStream<[TodoTask]>

    /// A task, now and after every change; nil while there is no such task.
    func task(_ id: WrappedID) async throws -> AsyncStream<TaskContents?>

    // Changes. Each finds the object of a value by its identifier first.
    // They throw `TodoError.unknown` if there is no such object, and errors of the title.

    @discardableResult
    func createGroup(titled title: String) async throws -> WrappedID
    func renameGroup(_ id: WrappedID, to title: String) async throws
    func deleteGroup(_ id: WrappedID) async throws
    @discardableResult
    func createTask(titled title: String, in group: WrappedID) async throws -> WrappedID
    /// Sets the values of a task. Its group remains.
    func updateTask(_ task: TodoTask) async throws
    func moveTask(_ id: WrappedID, to group: WrappedID) async throws
    func deleteTask(_ id: WrappedID) async throws
}

/// Why a change is refused, or nothing can be shown.
public enum TodoError: Error, Equatable {
    case emptyTitle
    case longTitle(maximum: Int)
    case unknown(Kind)

    public enum Kind: String, Sendable { case group, task }
}

/// The rules for titles.
public enum Title {
    /// The largest number of characters.
    public static let countMax = 200

    /// The title without the white space around it.
    ///
    /// - Throws: ``TodoError/emptyTitle``, ``TodoError/longTitle(maximum:)``.
    public static func checked(_ text: String) throws(TodoError) -> String {
        let title = text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        guard !title.isEmpty else { throw .emptyTitle }
        guard title.count <= countMax else { throw .longTitle(maximum: countMax) }
        return title
    }
}
