internal import CLarderProto
internal import FoundationEssentials
internal import LarderModel

// The message `ActivityReply` and its parts.

extension ServerActivity {
    /// More than a server has connections, slow reads or running requests.
    private static let partsMax = 1_000_000

    init(_ wire: Larder__V1__ActivityReply) throws(LarderError) {
        guard let load = wire.load else { throw .malformed("the load of the server is missing") }
        self.init(
            load: try ServerLoad(load.pointee),
            connections: try ProtobufReader.list(
                wire.connections, wire.n_connections, "connections", maximum: Self.partsMax,
                ConnectionActivity.init),
            slowReads: try ProtobufReader.list(
                wire.slow_reads, wire.n_slow_reads, "slow reads", maximum: Self.partsMax,
                SlowRead.init),
            running: try ProtobufReader.list(
                wire.running, wire.n_running, "running requests", maximum: Self.partsMax,
                RunningRequest.init))
    }
}

extension ServerLoad {
    fileprivate init(_ wire: Larder__V1__ServerLoad) throws(LarderError) {
        guard
            [
                wire.request_count, wire.save_count, wire.commit_count, wire.writes_waiting,
                wire.reads_running, wire.reads_waiting, wire.log_bytes, wire.backups_running,
            ].allSatisfy({ $0 >= 0 })
        else { throw .malformed("a number of the server's load is negative") }
        self.init(
            time: try Date(wireSeconds: wire.time), started: try Date(wireSeconds: wire.started),
            requestCount: wire.request_count, saveCount: wire.save_count,
            commitCount: wire.commit_count, writesWaiting: wire.writes_waiting,
            readsRunning: wire.reads_running, readsWaiting: wire.reads_waiting,
            logByteCount: wire.log_bytes, backupsRunning: wire.backups_running)
    }
}

extension ConnectionActivity {
    fileprivate init(_ wire: Larder__V1__ConnectionActivity) throws(LarderError) {
        guard
            [
                wire.request_count, wire.requests_in_flight, wire.follower_count,
                wire.memory_bytes, wire.waiting_bytes,
            ].allSatisfy({ $0 >= 0 })
        else { throw .malformed("a number of a connection is negative") }
        self.init(
            id: wire.number, source: try ChangeSource(wire.source?.pointee),
            opened: try Date(wireSeconds: wire.opened), requestCount: wire.request_count,
            requestsInFlight: wire.requests_in_flight, followerCount: wire.follower_count,
            memoryByteCount: wire.memory_bytes, waitingByteCount: wire.waiting_bytes)
    }
}

extension SlowRead {
    fileprivate init(_ wire: Larder__V1__SlowRead) throws(LarderError) {
        let hasQuery = wire.query_presence_case == LARDER__V1__SLOW_READ__QUERY_PRESENCE_QUERY
        self.init(
            ended: try Date(wireSeconds: wire.ended), seconds: wire.seconds,
            source: try ChangeSource(wire.source?.pointee),
            entityName: try wire.entity.text("an entity", bytesMax: Limits.nameBytesMax),
            query: hasQuery ? try wire.query.text("a query") : nil)
    }
}

extension RunningRequest {
    fileprivate init(_ wire: Larder__V1__RunningRequest) throws(LarderError) {
        let hasQuery =
            wire.query_presence_case == LARDER__V1__RUNNING_REQUEST__QUERY_PRESENCE_QUERY
        self.init(
            connection: wire.connection, request: wire.request,
            source: try ChangeSource(wire.source?.pointee),
            kind: try wire.kind.text("the kind of a request", bytesMax: Limits.nameBytesMax),
            started: try Date(wireSeconds: wire.started),
            entityName: try wire.entity.text("an entity", bytesMax: Limits.nameBytesMax),
            query: hasQuery ? try wire.query.text("a query") : nil,
            trace: try wire.trace.text("a trace", bytesMax: RequestTrace.bytesMax))
    }
}

extension ChangeSource {
    fileprivate init(_ wire: Larder__V1__ActivitySource?) throws(LarderError) {
        guard let wire else { throw .malformed("the source of an activity is missing") }
        self.init(
            userIdentifier: wire.user, processIdentifier: wire.process,
            clientName: try wire.client.text("a client's name", bytesMax: Limits.nameBytesMax))
    }
}

extension Date {
    init(wireSeconds seconds: Double) throws(LarderError) {
        guard seconds.isFinite else { throw .malformedValue("the time is not finite") }
        self.init(timeIntervalSinceReferenceDate: seconds)
    }
}

extension ProtobufWriter {
    func activity(
        _ activity: ServerActivity
    ) throws(LarderError) -> UnsafeMutablePointer<Larder__V1__ActivityReply> {
        let wire = make(larder__v1__activity_reply__init)
        wire.pointee.load = load(activity.load)
        wire.pointee.n_connections = activity.connections.count
        wire.pointee.connections = try list(activity.connections, connection)
        wire.pointee.n_slow_reads = activity.slowReads.count
        wire.pointee.slow_reads = try list(activity.slowReads, slowRead)
        wire.pointee.n_running = activity.running.count
        wire.pointee.running = try list(activity.running, running)
        return wire
    }

    private func load(_ load: ServerLoad) -> UnsafeMutablePointer<Larder__V1__ServerLoad> {
        let wire = make(larder__v1__server_load__init)
        wire.pointee.time = load.time.timeIntervalSinceReferenceDate
        wire.pointee.started = load.started.timeIntervalSinceReferenceDate
        wire.pointee.request_count = load.requestCount
        wire.pointee.save_count = load.saveCount
        wire.pointee.commit_count = load.commitCount
        wire.pointee.writes_waiting = load.writesWaiting
        wire.pointee.reads_running = load.readsRunning
        wire.pointee.reads_waiting = load.readsWaiting
        wire.pointee.log_bytes = load.logByteCount
        wire.pointee.backups_running = load.backupsRunning
        return wire
    }

    private func connection(
        _ connection: ConnectionActivity
    ) -> UnsafeMutablePointer<Larder__V1__ConnectionActivity> {
        let wire = make(larder__v1__connection_activity__init)
        wire.pointee.number = connection.id
        wire.pointee.source = source(connection.source)
        wire.pointee.opened = connection.opened.timeIntervalSinceReferenceDate
        wire.pointee.request_count = connection.requestCount
        wire.pointee.requests_in_flight = connection.requestsInFlight
        wire.pointee.follower_count = connection.followerCount
        wire.pointee.memory_bytes = connection.memoryByteCount
        wire.pointee.waiting_bytes = connection.waitingByteCount
        return wire
    }

    private func slowRead(_ read: SlowRead) -> UnsafeMutablePointer<Larder__V1__SlowRead> {
        let wire = make(larder__v1__slow_read__init)
        wire.pointee.ended = read.ended.timeIntervalSinceReferenceDate
        wire.pointee.seconds = read.seconds
        wire.pointee.source = source(read.source)
        wire.pointee.entity = text(read.entityName)
        if let query = read.query {
            wire.pointee.query_presence_case = LARDER__V1__SLOW_READ__QUERY_PRESENCE_QUERY
            wire.pointee.query = text(query)
        }
        return wire
    }

    private func running(
        _ request: RunningRequest
    ) -> UnsafeMutablePointer<Larder__V1__RunningRequest> {
        let wire = make(larder__v1__running_request__init)
        wire.pointee.connection = request.connection
        wire.pointee.request = request.request
        wire.pointee.source = source(request.source)
        wire.pointee.kind = text(request.kind)
        wire.pointee.started = request.started.timeIntervalSinceReferenceDate
        wire.pointee.entity = text(request.entityName)
        if let query = request.query {
            wire.pointee.query_presence_case =
                LARDER__V1__RUNNING_REQUEST__QUERY_PRESENCE_QUERY
            wire.pointee.query = text(query)
        }
        wire.pointee.trace = text(request.trace)
        return wire
    }

    private func source(
        _ source: ChangeSource
    ) -> UnsafeMutablePointer<Larder__V1__ActivitySource> {
        let wire = make(larder__v1__activity_source__init)
        wire.pointee.user = source.userIdentifier ?? .max
        wire.pointee.process = source.processIdentifier ?? 0
        wire.pointee.client = text(source.clientName)
        return wire
    }
}
