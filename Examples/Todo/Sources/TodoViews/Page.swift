/// A whole page around a view.
///
/// - Parameters:
///   - view: What is replaced when the values change.
///   - forms: What remains.
///   - isLive: Whether the page follows the changes.
public func page(title: String, view: HTML, forms: HTML = "", isLive: Bool = true) -> HTML {
    """
    <!doctype html>
    <html lang="en">
    <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>\(title)</title>
    <link rel="stylesheet" href="/todo.css">\(isLive ? script : "")
    </head>
    <body>
    <nav><a href="\(Link.groups)">Groups</a> <a href="\(Link.myDay)">My Day</a></nav>
    <div id="notice"></div>
    <main id="view">
    \(view)
    </main>
    <section id="forms">
    \(forms)
    </section>
    </body>
    </html>

    """
}

/// A page that says what is wrong.
public func errorPage(_ message: String) -> HTML {
    page(
        title: "Todo", view: "<h1>This did not work</h1>\n<p class=\"error\">\(message)</p>",
        isLive: false)
}

private let script: HTML = "\n<script src=\"/todo.js\" defer></script>"

/// The program of a live page. The server renders; the browser shows what it receives.
public let pageScript = """
    const view = document.getElementById("view");
    const notice = document.getElementById("notice");
    const events = new EventSource("/events" + location.pathname + location.search);
    events.onmessage = event => { view.innerHTML = event.data; };
    events.addEventListener("gone", event => {
      notice.innerHTML = event.data;
      document.getElementById("forms").hidden = true;
      events.close();
    });

    """

public let pageStyle = """
    body { font: 1rem/1.5 system-ui, sans-serif; max-width: 42rem }
    body { margin: 1rem auto; padding: 0 1rem }
    ul { list-style: none; padding: 0 }
    li form { display: inline }
    li.completed a { text-decoration: line-through }
    li.high a { font-weight: bold }
    section form { margin: .5rem 0 }
    .notice, .error { background: #fdd; padding: .5rem }

    """
