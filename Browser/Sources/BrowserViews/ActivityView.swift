import FoundationEssentials
public import HTMLPages
public import LarderClient

/// The page with the activity of the server, and its metrics.
public func activityView(_ activity: ServerActivity, _ statistics: [Statistic]) -> HTML {
    let load = activity.load
    let figures: [(String, Int64)] = [
        ("Requests", load.requestCount), ("Saves", load.saveCount), ("Commits", load.commitCount),
        ("Writes waiting", load.writesWaiting), ("Long reads", load.readsRunning),
        ("Reads waiting", load.readsWaiting), ("Backups", load.backupsRunning),
        ("Bytes of the log", load.logByteCount),
    ]
    let tiles = figures.map { name, number -> HTML in
        "<div><dt>\(name)</dt><dd>\(grouped(number))</dd></div>"
    }
    return """
        <h1>Activity</h1>
        <p class="quiet">Since the server was started, \(time(load.started)). \
        The page is read again every 2 seconds while it is visible.</p>
        <dl class="tiles">\(tiles)</dl>
        <h2>Connections</h2>
        \(connections(activity.connections))
        <h2>Slow reads</h2>
        \(slowReads(activity.slowReads))
        <h2>Metrics</h2>
        <div class="scroll" role="region" aria-label="Metrics" tabindex="0">
        <table class="rows"><thead><tr><th scope="col">Name</th>
        <th scope="col" class="number">Value</th></tr></thead>
        <tbody>\(statistics.map(metric))</tbody></table></div>
        """
}

/// The number of connections that are shown.
private let connectionsMax = 200

private func connections(_ connections: [ConnectionActivity]) -> HTML {
    let others = connections.count - connectionsMax
    let more: HTML = others > 0 ? "<p class=\"quiet\">and \(others) more</p>" : ""
    return """
        <div class="scroll" role="region" aria-label="Connections" tabindex="0">
        <table class="rows"><thead><tr><th scope="col">Client</th>
        <th scope="col" class="number">User</th><th scope="col" class="number">Process</th>
        <th scope="col">Since</th><th scope="col" class="number">Requests</th>
        <th scope="col" class="number">In flight</th><th scope="col" class="number">Feeds</th>
        <th scope="col" class="number">Bytes of memory</th>
        <th scope="col" class="number">Bytes not read</th></tr></thead>
        <tbody>\(connections.prefix(connectionsMax).map(connection))</tbody></table></div>\(more)
        """
}

private func connection(_ connection: ConnectionActivity) -> HTML {
    let numbers = [
        connection.requestCount, connection.requestsInFlight, connection.followerCount,
        connection.memoryByteCount, connection.waitingByteCount,
    ]
    let cells = numbers.map { "<td class=\"number\">\(grouped($0))</td>" as HTML }
    let user = connection.source.userIdentifier.map { "\($0)" } ?? ""
    let process = connection.source.processIdentifier.map { "\($0)" } ?? ""
    return """
        <tr><th scope="row">\(connection.source.clientName)</th><td class="number">\(user)</td>\
        <td class="number">\(process)</td><td>\(time(connection.opened))</td>\(cells.joined())</tr>
        """
}

private func slowReads(_ reads: [SlowRead]) -> HTML {
    guard !reads.isEmpty else {
        return "<p class=\"empty\">No read has taken 100 ms or longer.</p>"
    }
    let rows = reads.reversed().map { read -> HTML in
        """
        <tr><td class="number">\(Value.double((read.seconds * 1_000).rounded() / 1_000).text)</td>\
        <td>\(read.entityName)</td><td><code class="text">\(read.query ?? "of another user")\
        </code></td><td>\(read.source.clientName)</td><td>\(time(read.ended))</td></tr>
        """
    }
    return """
        <div class="scroll" role="region" aria-label="Slow reads" tabindex="0">
        <table class="rows"><thead><tr><th scope="col" class="number">Seconds</th>
        <th scope="col">Entity</th><th scope="col">Query</th><th scope="col">Client</th>
        <th scope="col">Ended</th></tr></thead><tbody>\(rows)</tbody></table></div>
        """
}

private func metric(_ statistic: Statistic) -> HTML {
    let value: HTML =
        if case .int(let number) = statistic.value { "\(grouped(number))" } else {
            ShownValue(statistic.value, charactersMax: 200).cell
        }
    return "<tr><th scope=\"row\">\(statistic.name)</th><td class=\"number\">\(value)</td></tr>"
}

/// A time without fractions of a second.
private func time(_ date: Date) -> HTML {
    let whole = Date(
        timeIntervalSinceReferenceDate: date.timeIntervalSinceReferenceDate.rounded(.down))
    return ShownValue(.date(whole), charactersMax: 40).cell
}
