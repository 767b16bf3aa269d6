public import HTMLPages
public import TodoValues

// Forms are outside of what changes with the values, so that an update of a window does not clear
// what somebody is typing.

public func groupListForms() -> HTML { titleForm("/groups", label: "New group", nil) }

public func groupForms(_ contents: GroupContents) -> HTML {
    let id = contents.group.id
    return """
        \(titleForm("/tasks", label: "New task", id))
        \(titleForm("/group/title", label: "Rename", id, contents.group.title))
        \(deleteForm("/group/delete", label: "Delete the group and its tasks", id))
        """
}

public func taskForms(_ contents: TaskContents) -> HTML {
    let task = contents.task
    let priorities = Priority.allCases.map { priority in
        option("\(priority.rawValue)", priority.name, isSelected: priority == task.priority)
    }
    let groups = contents.groups.map { group in
        option(group.id.description, group.title, isSelected: group.id == task.group)
    }
    return """
        <form method="post" action="/task">\(hidden(task.id))
        <label>Title <input name="title" value="\(task.title)" required></label>
        <label>Priority <select name="priority">\(priorities)</select></label>
        <label>\(checkbox("completed", task.isCompleted)) completed</label>
        <label>\(checkbox("my-day", task.isInMyDay)) My Day</label>
        <button class="primary">Save</button></form>
        <form method="post" action="/task/group">\(hidden(task.id))
        <label>Group <select name="group">\(groups)</select></label>
        <button>Move</button></form>
        \(deleteForm("/task/delete", label: "Delete the task", task.id))
        """
}

private func titleForm(
    _ action: String, label: String, _ id: WrappedID?, _ title: String = ""
) -> HTML {
    """
    <form method="post" action="\(action)">\(id.map(hidden))
    <label>\(label) <input name="title" value="\(title)" required></label>
    <button class="primary">Save</button></form>
    """
}

private func deleteForm(_ action: String, label: String, _ id: WrappedID) -> HTML {
    """
    <form method="post" action="\(action)">\(hidden(id))\
    <button class="danger">\(label)</button></form>
    """
}

private func option(_ value: String, _ label: String, isSelected: Bool) -> HTML {
    "<option value=\"\(value)\"\(isSelected ? HTML(" selected") : "")>\(label)</option>"
}

private func checkbox(_ name: String, _ isChecked: Bool) -> HTML {
    """
    <input type="checkbox" name="\(name)" value="true"\(isChecked ? HTML(" checked") : "")>
    """
}
