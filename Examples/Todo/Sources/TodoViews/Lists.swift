public import TodoValues

/// All groups, with the number of their tasks.
public func groupList(_ groups: [TodoGroup]) -> HTML {
    guard !groups.isEmpty else { return "<p class=\"empty\">There are no groups.</p>" }
    let rows = groups.map { group -> HTML in
        """
        <li><a href="\(Link.group(group.id))">\(group.title)</a> \
        <span class="count">\(group.taskCount)</span></li>
        """
    }
    return "<ul class=\"groups\">\n\(rows)\n</ul>"
}

/// The tasks for today.
public func myDay(_ tasks: [TodoTask]) -> HTML {
    "<h1>My Day</h1>\n\(taskList(tasks, empty: "Nothing is planned for today."))"
}

/// A group with its tasks.
public func groupView(_ contents: GroupContents) -> HTML {
    """
    <h1>\(contents.group.title)</h1>
    \(taskList(contents.tasks, empty: "The group has no tasks."))
    """
}

func taskList(_ tasks: [TodoTask], empty: String) -> HTML {
    guard !tasks.isEmpty else { return "<p class=\"empty\">\(empty)</p>" }
    return "<ul class=\"tasks\">\n\(tasks.map(taskRow))\n</ul>"
}

/// A row of a list, whose button completes the task or opens it again.
func taskRow(_ task: TodoTask) -> HTML {
    let button: HTML = task.isCompleted ? "Reopen" : "Complete"
    return """
        <li class="\(task.isCompleted ? "completed" : "open") \(task.priority.name)">\
        <a href="\(Link.task(task.id))">\(task.title)</a>\(task.isInMyDay ? " ☀" : "")
        <form method="post" action="/task/completed">\(hidden(task.id))\
        <input type="hidden" name="completed" value="\(task.isCompleted ? "false" : "true")">\
        <button>\(button)</button></form></li>
        """
}
