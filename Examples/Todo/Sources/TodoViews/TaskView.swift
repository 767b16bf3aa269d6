public import HTMLPages
public import TodoValues

/// A task with all of its values.
public func taskView(_ contents: TaskContents) -> HTML {
    let task = contents.task
    let group = contents.groups.first { $0.id == task.group }
    return """
        <h1>\(task.title)</h1>
        <dl data-id="\(task.id.description)">
        <dt>Group</dt><dd>\(group.map(groupLink) ?? "none")</dd>
        <dt>Priority</dt><dd>\(task.priority.name)</dd>
        <dt>State</dt><dd>\(task.isCompleted ? "completed" : "open")</dd>
        <dt>My Day</dt><dd>\(task.isInMyDay ? "yes" : "no")</dd>
        </dl>
        """
}

private func groupLink(_ group: TodoGroup) -> HTML {
    "<a href=\"\(Link.group(group.id))\">\(group.title)</a>"
}

/// The text above the last values of an object that somebody has deleted.
public func deletionNotice(_ kind: TodoError.Kind) -> HTML {
    """
    <p class="notice" role="status">This \(kind.rawValue) was deleted. \
    The page shows its last values.</p>
    """
}

extension Priority {
    /// The word for the priority.
    public var name: String {
        switch self {
        case .low: "low"
        case .standard: "standard"
        case .high: "high"
        }
    }
}

func hidden(_ id: WrappedID) -> HTML {
    "<input type=\"hidden\" name=\"id\" value=\"\(id.description)\">"
}
