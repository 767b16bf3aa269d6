public import Hummingbird
public import TodoValues
import TodoViews

/// The pages of a program, their events, and what their forms do.
public func todoRouter(_ todo: any Todo) -> Router<BasicRequestContext> {
    let router = Router()
    router.add(middleware: ErrorPages())
    router.add(middleware: SameOrigin())
    router.get("todo.js") { _, _ in Response.text(pageScript, "text/javascript") }
    router.get("todo.css") { _, _ in Response.text(todoStyle, "text/css") }

    addWindow("", to: router, todo) { _ in .groups }
    addWindow("my-day", to: router, todo) { _ in .myDay }
    addWindow("group", to: router, todo) { .group(try $0.queryIdentity(.group)) }
    addWindow("task", to: router, todo) { .task(try $0.queryIdentity(.task)) }
    addGroupForms(to: router, todo)
    addTaskForms(to: router, todo)
    return router
}

/// A page, and the events that keep it up to date.
private func addWindow(
    _ path: String, to router: Router<BasicRequestContext>, _ todo: any Todo,
    _ window: @escaping @Sendable (Request) throws -> Window
) {
    router.get("/\(path)") { request, _ in
        let window = try window(request)
        for await frame in try await window.frames(of: todo) {
            guard let frame else { break }
            return Response.html(
                page(title: frame.title, at: "/\(path)", view: frame.view, forms: frame.forms))
        }
        throw TodoError.unknown(window.kind ?? .group)
    }
    router.get("/events/\(path)") { request, _ in
        let window = try window(request)
        return Response.events(of: window, try await window.frames(of: todo), for: request)
    }
}

private func addGroupForms(to router: Router<BasicRequestContext>, _ todo: any Todo) {
    router.post("/groups") { request, _ in
        let form = try await Form(request)
        let id = try await todo.createGroup(titled: form["title"])
        return Response.redirect(to: Link.group(id), type: .normal)
    }
    router.post("/group/title") { request, _ in
        let form = try await Form(request)
        let id = try form.identity(.group)
        try await todo.renameGroup(id, to: form["title"])
        return Response.redirect(to: Link.group(id), type: .normal)
    }
    router.post("/group/delete") { request, _ in
        try await todo.deleteGroup(Form(request).identity(.group))
        return Response.redirect(to: Link.groups, type: .normal)
    }
}

private func addTaskForms(to router: Router<BasicRequestContext>, _ todo: any Todo) {
    router.post("/tasks") { request, _ in
        let form = try await Form(request)
        let group = try form.identity(.group)
        try await todo.createTask(titled: form["title"], in: group)
        return Response.redirect(to: Link.group(group), type: .normal)
    }
    router.post("/task") { request, _ in
        let form = try await Form(request)
        let id = try form.identity(.task)
        try await todo.updateTask(
            TodoTask(
                id: id, title: form["title"], priority: try form.priority(),
                isCompleted: form["completed"] == "true", isInMyDay: form["my-day"] == "true"))
        return Response.redirect(to: Link.task(id), type: .normal)
    }
    router.post("/task/completed") { request, _ in
        let form = try await Form(request)
        var task = try await todo.currentTask(form.identity(.task))
        task.isCompleted = form["completed"] == "true"
        try await todo.updateTask(task)
        return Response.redirect(to: task.group.map(Link.group) ?? Link.myDay, type: .normal)
    }
    router.post("/task/group") { request, _ in
        let form = try await Form(request)
        let id = try form.identity(.task)
        try await todo.moveTask(id, to: form.identity(.group, named: "group"))
        return Response.redirect(to: Link.task(id), type: .normal)
    }
    router.post("/task/delete") { request, _ in
        let task = try await todo.currentTask(Form(request).identity(.task))
        try await todo.deleteTask(task.id)
        return Response.redirect(to: task.group.map(Link.group) ?? Link.groups, type: .normal)
    }
}

extension Todo {
    /// The values of a task as they are now.
    fileprivate func currentTask(_ id: WrappedID) async throws -> TodoTask {
        for await contents in try await task(id) {
            guard let contents else { break }
            return contents.task
        }
        throw TodoError.unknown(.task)
    }
}
