public import HTMLPages

/// A whole page around a view.
///
/// - Parameters:
///   - address: The address of the page, which is marked in the navigation if it is there.
///   - view: What is replaced when the values change.
///   - forms: What remains.
///   - isLive: Whether the page follows the changes.
public func page(
    title: String, at address: String = "", view: HTML, forms: HTML = "", isLive: Bool = true
) -> HTML {
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
    <header><nav aria-label="Pages">\(tab("Groups", Link.groups, address))
    \(tab("My Day", Link.myDay, address))</nav></header>
    <div id="notice" role="status"></div>
    <main id="view">
    \(view)
    </main>
    <section id="forms" aria-label="Changes">
    \(forms)
    </section>
    </body>
    </html>

    """
}

private func tab(_ name: HTML, _ link: String, _ address: String) -> HTML {
    "<a href=\"\(link)\"\(link == address ? HTML(" aria-current=\"page\"") : "")>\(name)</a>"
}

/// A page that says what is wrong.
public func errorPage(_ message: String) -> HTML {
    page(
        title: "Todo", view: "<h1>This did not work</h1>\n<p class=\"error\">\(message)</p>",
        isLive: false)
}

private let script: HTML = "\n<script src=\"/todo.js\" defer></script>"

/// The program of a live page. The server renders; the browser shows what it receives, and lets
/// what is new or different fade in.
public let pageScript = """
    const view = document.getElementById("view");
    const notice = document.getElementById("notice");
    const events = new EventSource("/events" + location.pathname + location.search);
    const parts = () => new Map(
      [...view.querySelectorAll("[data-id]")].map(part => [part.dataset.id, part.outerHTML]));
    events.onmessage = event => {
      const before = parts();
      view.innerHTML = event.data;
      for (const part of view.querySelectorAll("[data-id]")) {
        const old = before.get(part.dataset.id);
        if (old !== part.outerHTML) part.classList.add(old ? "changed" : "added");
      }
    };
    events.addEventListener("gone", event => {
      notice.innerHTML = event.data;
      document.getElementById("forms").hidden = true;
      events.close();
    });

    """

/// The shared stylesheet, and the rules for lists of groups and tasks.
public let todoStyle =
    pageStyle + """
        body { max-width: 42rem }
        ul.groups, ul.tasks { list-style: none; padding: 0; display: grid; gap: .5rem }
        .groups li, .tasks li {
          display: flex; align-items: center; gap: .75rem; padding: .7rem .9rem;
          background: var(--raised); border: 1px solid var(--line); border-radius: 10px;
        }
        .groups a, .tasks a { flex: 1; min-width: 0; overflow-wrap: anywhere; color: var(--ink) }
        .groups a, .tasks a { text-decoration: none }
        .groups a:hover, .tasks a:hover { text-decoration: underline }
        .groups a { font-weight: 600 }
        .count {
          min-width: 2rem; text-align: center; padding: .05rem .5rem; border-radius: 1rem;
          background: var(--paper); border: 1px solid var(--line); color: var(--quiet);
          font-variant-numeric: tabular-nums;
        }
        .progress { color: var(--quiet); margin: -.25rem 0 1rem }
        .tasks form { display: flex }
        button.check {
          width: 1.6rem; height: 1.6rem; padding: 0; border-radius: 50%; line-height: 1;
          border: 2px solid var(--quiet); background: var(--paper); color: var(--on-accent);
        }
        .completed button.check { background: var(--good); border-color: var(--good) }
        .completed button.check { color: var(--paper) }
        .completed a { text-decoration: line-through; color: var(--quiet) }
        .badge { font-size: .8rem; border-radius: 1rem; padding: .05rem .55rem }
        .badge { border: 1px solid var(--line); color: var(--quiet); white-space: nowrap }
        .badge.high { color: var(--bad); border-color: var(--bad) }
        .badge.day { color: var(--warn); border-color: var(--warn) }
        dl { display: grid; grid-template-columns: auto 1fr; gap: .4rem 1.25rem; margin: 0 }
        dl { background: var(--raised); border: 1px solid var(--line); border-radius: 10px }
        dl { padding: .9rem 1.1rem }
        dt { color: var(--quiet) } dd { margin: 0; overflow-wrap: anywhere }
        .empty { text-align: center; border: 1px dashed var(--line); border-radius: 10px }
        #forms { margin-top: 1.5rem; padding-top: .5rem; border-top: 1px solid var(--line) }
        #forms form { display: flex; flex-wrap: wrap; align-items: end; gap: .5rem .9rem }
        #forms form { margin: .9rem 0 }
        #forms label { flex: 0 1 auto } #forms label:first-of-type { flex: 1 1 12rem }
        #forms input:not([type=checkbox]), #forms select { display: block; width: 100% }

        """
