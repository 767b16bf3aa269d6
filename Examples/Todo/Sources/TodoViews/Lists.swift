public import HTMLPages
public import TodoValues

/// All groups, with the number of their tasks.
public func groupList(_ groups: [TodoGroup]) -> HTML {
    guard !groups.isEmpty else {
        return "<p class=\"empty\">There are no groups. Add the first one below.</p>"
    }
    let rows = groups.map { group -> HTML in
        """
        <li data-id="\(group.id.description)"><a href="\(Link.group(group.id))">\(group.title)</a> \
        <span class="count"><span class="hidden">Tasks: </span>\(group.taskCount)</span></li>
        """
    }
    return "<ul class=\"groups\">\n\(rows)\n</ul>"
}

/// The tasks for today.
public func myDay(_ tasks: [TodoTask]) -> HTML {
    """
    <h1>My Day</h1>
    \(progress(tasks))
    \(taskList(tasks, empty: "Nothing is planned for today."))
    """
}

/// A group with its tasks.
public func groupView(_ contents: GroupContents) -> HTML {
    """
    <h1>\(contents.group.title)</h1>
    \(progress(contents.tasks))
    \(taskList(contents.tasks, empty: "The group has no tasks."))
    """
}

/// How many of the tasks are completed.
private func progress(_ tasks: [TodoTask]) -> HTML {
    guard !tasks.isEmpty else { return "" }
    let done = tasks.count { $0.isCompleted }
    return "<p class=\"progress\">\(done) of \(tasks.count) completed</p>"
}

func taskList(_ tasks: [TodoTask], empty: String) -> HTML {
    guard !tasks.isEmpty else { return "<p class=\"empty\">\(empty)</p>" }
    return "<ul class=\"tasks\">\n\(tasks.map(taskRow))\n</ul>"
}

/// A row of a list, whose button completes the task or opens it again.
func taskRow(_ task: TodoTask) -> HTML {
    let action = task.isCompleted ? "Reopen" : "Complete"
    let priority: HTML =
        task.priority == .standard
        ? ""
        : "<span class=\"badge \(task.priority.name)\">\(task.priority.name)</span>"
    let day: HTML = task.isInMyDay ? "<span class=\"badge day\">☀ My Day</span>" : ""
    return """
        <li data-id="\(task.id.description)" \
        class="\(task.isCompleted ? "completed" : "open") \(task.priority.name)">
        <form method="post" action="/task/completed">\(hidden(task.id))\
        <input type="hidden" name="completed" value="\(task.isCompleted ? "false" : "true")">\
        <button class="check" title="\(action)"><span aria-hidden="true">\
        \(task.isCompleted ? "✓" : "")</span><span class="hidden">\(action) \(task.title)</span>\
        </button></form>
        <a href="\(Link.task(task.id))">\(task.title)</a>\(priority)\(day)</li>
        """
}
