/// The program of the pages. The server renders: the program shows the HTML that it receives,
/// marks what is different, and moves the focus by keys. Without it all pages work, except that
/// they do not follow changes and have no numbers of objects.
public let browseScript = #"""
    "use strict";
    const main = document.getElementById("main");
    const live = document.getElementById("live") || document.getElementById("notice");
    let wasLost = false;

    function say(text, kind) {
      if (!live) return;
      live.textContent = text;
      live.className = kind === "bad" ? "error" : "quiet";
    }

    // Rows: the received ones replace those that are shown, and differences are marked.
    function showRows(html) {
      const body = document.getElementById("rows");
      if (!body) return;
      const received = document.createElement("tbody");
      received.innerHTML = html;
      const focused = document.activeElement?.closest?.("tr")?.dataset.id;
      const old = new Map([...body.rows].map(row => [row.dataset.id, row]));
      const count = { added: 0, changed: 0 };
      for (const row of received.rows) {
        const before = old.get(row.dataset.id);
        old.delete(row.dataset.id);
        if (!before) {
          row.className = "added";
          count.added++;
        } else if (before.innerHTML.replace(/ class="changed"/g, "") !== row.innerHTML
                   || before.dataset.version !== row.dataset.version) {
          row.className = "changed";
          count.changed++;
        }
      }
      const wasEmpty = body.rows.length === 0 && received.rows.length > 0;
      if (!count.added && !count.changed && !old.size) return;
      if (wasEmpty) { location.reload(); return; }
      received.id = "rows";
      body.replaceWith(received);
      if (focused) focusRow([...received.rows].find(row => row.dataset.id === focused));
      const parts = [];
      if (count.changed) parts.push(`${count.changed} changed`);
      if (count.added) parts.push(`${count.added} new`);
      if (old.size) parts.push(`${old.size} gone`);
      say(`Rows: ${parts.join(", ")}`);
      showCounts();
    }

    // The values of an object.
    function showObject(html) {
      const view = document.getElementById("object");
      const received = document.createElement("div");
      received.innerHTML = html;
      const old = new Map(
        [...view.querySelectorAll("[data-name]")].map(part => [part.dataset.name, part.innerHTML]));
      let isChanged = false;
      for (const part of received.querySelectorAll("[data-name]")) {
        if (old.get(part.dataset.name) === part.innerHTML) continue;
        part.classList.add("changed");
        isChanged = true;
      }
      view.innerHTML = received.innerHTML;
      if (isChanged) say("Somebody has changed this object.");
    }

    let events = null;
    function follow() {
      const address = main.dataset.events;
      if (!address || events || document.hidden) return;
      events = new EventSource(address);
      events.onopen = () => {
        if (wasLost) say("Changes are shown again.");
        wasLost = false;
      };
      events.addEventListener("rows", event => showRows(event.data));
      events.addEventListener("object", event => showObject(event.data));
      events.addEventListener("gone", event => {
        stop();
        main.removeAttribute("data-events");
        document.getElementById("notice").innerHTML = event.data;
        document.getElementById("actions").hidden = true;
      });
      events.addEventListener("lost", () => {
        wasLost = true;
        say("The server does not answer. Changes are shown when it does.", "bad");
      });
      events.addEventListener("back", () => {
        if (wasLost) say("The server answers again.");
        wasLost = false;
      });
      events.addEventListener("ended", event => {
        stop();
        main.removeAttribute("data-events");
        say(event.data, "bad");
      });
      events.onerror = () => {
        wasLost = true;
        const isRefused = events.readyState === EventSource.CLOSED;
        say(isRefused
          ? "The page does not follow changes any more. Load it again."
          : "larder browse does not answer. The page tries again.", "bad");
        if (isRefused) stop();
      };
    }
    function stop() {
      events?.close();
      events = null;
    }
    // A browser has few connections to one address, so a page that nobody sees has none.
    document.addEventListener("visibilitychange", () => document.hidden ? stop() : follow());
    addEventListener("pagehide", stop);
    addEventListener("pageshow", follow);

    // Numbers of objects, which may take long to count: one after the other.
    async function showCounts() {
      for (const place of document.querySelectorAll("[data-count]")) {
        try {
          const reply = await fetch(place.dataset.count);
          const count = reply.ok ? await reply.text() : "";
          place.textContent = count || (place.matches("td") ? "…" : "");
          if (!count) document.getElementById("uncounted")?.removeAttribute("hidden");
        } catch { return; /* The page says elsewhere that nothing answers. */ }
      }
    }
    showCounts();

    // A page that is read again.
    async function refresh() {
      const address = main.dataset.refresh;
      if (!document.hidden) {
        try {
          const reply = await fetch(address);
          if (reply.ok) main.innerHTML = await reply.text();
        } catch { /* Tried again. */ }
      }
      setTimeout(refresh, 2000);
    }
    if (main?.dataset.refresh) setTimeout(refresh, 2000);

    // Keys.
    function rowLinks() {
      return [...document.querySelectorAll("main tbody tr")]
        .map(row => row.querySelector("a")).filter(link => link);
    }
    function focusRow(row) { row?.querySelector("a")?.focus(); }
    function move(step) {
      const links = rowLinks();
      if (!links.length) return;
      const row = document.activeElement?.closest?.("tr");
      const index = links.findIndex(link => link.closest("tr") === row);
      const next = index < 0 ? (step > 0 ? 0 : links.length - 1) : index + step;
      links[Math.max(0, Math.min(links.length - 1, next))].focus();
    }
    document.addEventListener("keydown", event => {
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      const isTyping = event.target.matches?.("input, textarea, select");
      if (isTyping) {
        if (event.key === "Escape") event.target.blur();
        return;
      }
      switch (event.key) {
        case "j": move(1); break;
        case "k": move(-1); break;
        case "n": document.getElementById("next")?.click(); break;
        case "p": document.getElementById("previous")?.click(); break;
        case "/": {
          const field = document.getElementById("where");
          if (!field) return;
          field.focus();
          field.select();
          break;
        }
        default: return;
      }
      event.preventDefault();
    });

    """#
