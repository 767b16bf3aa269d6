import Foundation
import HTMLPages
import Testing
import TodoValues
import TodoViews

@Suite("Views, from mocks without a store")
struct ViewTests {
    private let home = TodoGroup(id: .integer(1), title: "Home", taskCount: 2)
    private let plants = TodoTask(
        id: .integer(3), title: "Water <b>plants</b>", priority: .high, isInMyDay: true,
        group: .integer(1))
    private let rent = TodoTask(
        id: .string("rent & \"co\""), title: "Rent", isCompleted: true, group: .integer(1))

    /// The elements of a view whose opening tag begins with a text.
    private func count(_ tag: String, in html: HTML) -> Int {
        html.text.components(separatedBy: tag).count - 1
    }

    @Test("the list of groups has links and counts of tasks")
    func groups() {
        let html = groupList([home, TodoGroup(id: .string("w"), title: "R&D")])
        #expect(count("<li data-id=", in: html) == 2)
        #expect(html.text.contains("<a href=\"/group?id=integer%3A1\">Home</a>"))
        #expect(html.text.contains("<span class=\"hidden\">Tasks: </span>2</span>"))
        #expect(html.text.contains(">R&amp;D</a>"))
        #expect(groupList([]).text.contains("There are no groups."))
    }

    @Test("the view of a group shows its open and completed tasks")
    func group() {
        let html = groupView(GroupContents(group: home, tasks: [plants, rent]))
        #expect(html.text.hasPrefix("<h1>Home</h1>"))
        #expect(html.text.contains("1 of 2 completed"))
        #expect(count("class=\"open high\">", in: html) == 1)
        #expect(count("class=\"completed standard\">", in: html) == 1)
        #expect(count("title=\"Complete\">", in: html) == 1)
        #expect(count("title=\"Reopen\">", in: html) == 1)
        #expect(count("<span class=\"badge high\">high</span>", in: html) == 1)
        let empty = groupView(GroupContents(group: home, tasks: []))
        #expect(empty.text.contains("The group has no tasks."))
    }

    @Test("the view of a task shows all of its values")
    func task() {
        let html = taskView(TaskContents(task: plants, groups: [home]))
        #expect(html.text.contains("<dd><a href=\"/group?id=integer%3A1\">Home</a></dd>"))
        #expect(html.text.contains("<dt>Priority</dt><dd>high</dd>"))
        #expect(html.text.contains("<dt>State</dt><dd>open</dd>"))
        #expect(html.text.contains("<dt>My Day</dt><dd>yes</dd>"))
        var lone = plants
        lone.group = nil
        #expect(taskView(TaskContents(task: lone, groups: [])).text.contains("<dd>none</dd>"))
    }

    @Test("the page of My Day lists the tasks for today, or says that there are none")
    func today() {
        #expect(count("<li", in: myDay([plants])) == 1)
        #expect(myDay([]).text.contains("Nothing is planned for today."))
    }

    @Test("forms contain the values of the task or group that they change")
    func forms() {
        let task = taskForms(TaskContents(task: plants, groups: [home]))
        #expect(task.text.contains("<option value=\"2\" selected>high</option>"))
        #expect(task.text.contains("<option value=\"integer:1\" selected>Home</option>"))
        #expect(task.text.contains("name=\"my-day\" value=\"true\" checked>"))
        #expect(task.text.contains("name=\"completed\" value=\"true\">"))
        let group = groupForms(GroupContents(group: home, tasks: []))
        #expect(count("<form", in: group) == 3)
        #expect(group.text.contains("name=\"id\" value=\"integer:1\""))
        #expect(count("<form", in: groupListForms()) == 1)
    }

    @Test("text is escaped in elements, attributes and links of all views")
    func escaping() {
        let script = "<script>alert('x')</script>\"&"
        let task = TodoTask(id: .string(script), title: script, group: .string(script))
        let group = TodoGroup(id: .string(script), title: script)
        let contents = TaskContents(task: task, groups: [group])
        let views = [
            groupList([group]), groupView(GroupContents(group: group, tasks: [task])),
            taskView(contents), taskForms(contents), myDay([task]), errorPage(script),
            groupForms(GroupContents(group: group, tasks: [])),
            page(title: script, view: taskView(contents)),
        ]
        for view in views {
            #expect(!view.text.contains("<script>"))
            #expect(!view.text.contains("alert('x')"))
            #expect(
                view.text.contains("&lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt;&quot;&amp;"))
        }
    }

    @Test("the notice of a deletion says whether a task or a group was deleted")
    func deletion() {
        #expect(deletionNotice(.task).text.contains("This task was deleted."))
        #expect(deletionNotice(.group).text.contains("This group was deleted."))
    }

    @Test("a page is updated by a script, but the page of an error is not")
    func pages() {
        #expect(
            page(title: "T", view: "").text.contains("<script src=\"/todo.js\" defer></script>"))
        #expect(!errorPage("no").text.contains("<script"))
    }
}

@Suite("Values")
struct ValueTests {
    @Test("an identity becomes text and is read back from it")
    func identity() {
        for id in [WrappedID.integer(-3), .string("a:b <>&"), .string("ü"), .uuid(UUID())] {
            #expect(WrappedID(id.description) == id)
        }
        for text in ["", "x", "integer:", "integer:x", "uuid:1", "x-coredata:", "number:1"] {
            #expect(WrappedID(text) == nil)
        }
    }

    @Test("an empty title and one of more than 200 characters are refused")
    func titles() throws {
        #expect(try Title.checked("  a \n b ") == "a b")
        #expect(throws: TodoError.emptyTitle) { try Title.checked(" \n\t") }
        #expect(try Title.checked(String(repeating: "é", count: 200)).count == 200)
        #expect(throws: TodoError.longTitle(maximum: 200)) {
            try Title.checked(String(repeating: "é", count: 201))
        }
    }

    @Test("open tasks come first, then tasks of a higher priority, then by title")
    func order() {
        func task(_ title: String, _ priority: Priority, _ isCompleted: Bool = false) -> TodoTask {
            TodoTask(
                id: .string(title), title: title, priority: priority, isCompleted: isCompleted)
        }
        let tasks = [
            task("a", .high, true), task("b", .low), task("d", .high), task("c", .high),
        ]
        #expect(tasks.ordered().map(\.title) == ["c", "d", "b", "a"])
    }
}
