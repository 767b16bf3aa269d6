import HTMLPages
import TodoValues
import TodoViews

/// The page that a window of a browser shows.
enum Window {
    case groups
    case group(WrappedID)
    case myDay
    case task(WrappedID)

    /// A view of the window's values, and the page around it.
    struct Frame: Sendable {
        var title: String
        var view: HTML
        var forms: HTML = ""
    }

    /// The window's contents now and after every change; nil once its object does not exist.
    func frames(of todo: any Todo) async throws -> any AsyncSequence<Frame?, Never> & Sendable {
        switch self {
        case .groups:
            try await todo.groups().map { groups in
                Frame(
                    title: "Groups", view: "<h1>Groups</h1>\n\(groupList(groups))",
                    forms: groupListForms())
            }
        case .group(let id):
            try await todo.group(id).map { contents in
                contents.map {
                    Frame(title: $0.group.title, view: groupView($0), forms: groupForms($0))
                }
            }
        case .myDay:
            try await todo.myDay().map { Frame(title: "My Day", view: TodoViews.myDay($0)) }
        case .task(let id):
            try await todo.task(id).map { contents in
                contents.map {
                    Frame(title: $0.task.title, view: taskView($0), forms: taskForms($0))
                }
            }
        }
    }

    /// The object that the window is about; nil if it is about none.
    var kind: TodoError.Kind? {
        switch self {
        case .groups, .myDay: nil
        case .group: .group
        case .task: .task
        }
    }
}
