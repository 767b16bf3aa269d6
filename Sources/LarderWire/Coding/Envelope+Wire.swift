internal import CLarderProto
internal import LarderModel

extension MessageWriter {
    func fill(
        _ wire: UnsafeMutablePointer<Larder__V1__Envelope>, _ request: Request
    ) throws(LarderError) {
        switch request {
        case .hello(let hello):
            wire.pointee.body_case = LARDER__V1__ENVELOPE__BODY_HELLO
            wire.pointee.hello = self.hello(hello)
        case .get(let identifiers, let properties):
            wire.pointee.body_case = LARDER__V1__ENVELOPE__BODY_GET
            wire.pointee.get = try get(identifiers, properties: properties)
        case .query(let query):
            wire.pointee.body_case = LARDER__V1__ENVELOPE__BODY_QUERY
            wire.pointee.query = try self.query(query)
        case .explain(let query):
            wire.pointee.body_case = LARDER__V1__ENVELOPE__BODY_EXPLAIN
            wire.pointee.explain = try self.query(query)
        case .save(let set):
            wire.pointee.body_case = LARDER__V1__ENVELOPE__BODY_SAVE
            wire.pointee.save = try save(set)
        case .schema:
            wire.pointee.body_case = LARDER__V1__ENVELOPE__BODY_SCHEMA
            wire.pointee.schema = make(larder__v1__schema_request__init)
        case .statistics:
            wire.pointee.body_case = LARDER__V1__ENVELOPE__BODY_STATISTICS
            wire.pointee.statistics = make(larder__v1__statistics_request__init)
        case .check:
            wire.pointee.body_case = LARDER__V1__ENVELOPE__BODY_CHECK
            wire.pointee.check = make(larder__v1__check_request__init)
        case .insertRows(let insertion):
            wire.pointee.body_case = LARDER__V1__ENVELOPE__BODY_INSERT_ROWS
            wire.pointee.insert_rows = insertRows(insertion)
        case .rows(let requestID, let batch, let isLast):
            wire.pointee.body_case = LARDER__V1__ENVELOPE__BODY_ROWS
            wire.pointee.rows = try rows(requestID, batch, isLast: isLast)
        case .ping:
            wire.pointee.body_case = LARDER__V1__ENVELOPE__BODY_PING
            wire.pointee.ping = make(larder__v1__ping_request__init)
        case .credit(let requestID, let batches):
            let credit = make(larder__v1__credit_request__init)
            credit.pointee.request_id = requestID
            credit.pointee.batches = batches
            wire.pointee.body_case = LARDER__V1__ENVELOPE__BODY_CREDIT
            wire.pointee.credit = credit
        case .cancel(let requestID):
            let cancel = make(larder__v1__cancel_request__init)
            cancel.pointee.request_id = requestID
            wire.pointee.body_case = LARDER__V1__ENVELOPE__BODY_CANCEL
            wire.pointee.cancel = cancel
        }
    }

    func fill(
        _ wire: UnsafeMutablePointer<Larder__V1__Envelope>, _ reply: Reply
    ) throws(LarderError) {
        switch reply {
        case .welcome(let welcome):
            wire.pointee.body_case = LARDER__V1__ENVELOPE__BODY_WELCOME
            wire.pointee.welcome = self.welcome(welcome)
        case .batches(let batches, let more):
            wire.pointee.body_case = LARDER__V1__ENVELOPE__BODY_BATCHES
            wire.pointee.batches = try self.batches(batches, more: more)
        case .saved(let result):
            wire.pointee.body_case = LARDER__V1__ENVELOPE__BODY_SAVED
            wire.pointee.saved = try saved(result)
        case .explained(let explanation):
            wire.pointee.body_case = LARDER__V1__ENVELOPE__BODY_EXPLAINED
            wire.pointee.explained = explained(explanation)
        case .schema(let json):
            wire.pointee.body_case = LARDER__V1__ENVELOPE__BODY_SCHEMA_TEXT
            wire.pointee.schema_text = schema(json)
        case .statistics(let statistics):
            wire.pointee.body_case = LARDER__V1__ENVELOPE__BODY_FIGURES
            wire.pointee.figures = try self.statistics(statistics)
        case .checked(let report):
            wire.pointee.body_case = LARDER__V1__ENVELOPE__BODY_CHECKED
            wire.pointee.checked = try checked(report)
        case .inserted(let result, let more):
            wire.pointee.body_case = LARDER__V1__ENVELOPE__BODY_INSERTED
            wire.pointee.inserted = inserted(result, more: more)
        case .pong:
            wire.pointee.body_case = LARDER__V1__ENVELOPE__BODY_PONG
            wire.pointee.pong = make(larder__v1__pong_reply__init)
        case .failed(let error):
            wire.pointee.body_case = LARDER__V1__ENVELOPE__BODY_FAILED
            wire.pointee.failed = try failed(error)
        }
    }
}
