package larder

import (
	"context"
	"time"

	pb "larder/internal/larderv1"
)

const (
	// The difference between the time limit of a request and that of the client for it.
	marginMax = time.Second
	// The time for the last reply to a request that was cancelled.
	cancelTimeout = 60 * time.Second
)

// exchange is a request that was sent, and its replies. One goroutine at a time uses it.
type exchange struct {
	link    *link
	id      uint64
	slots   chan struct{}
	replies chan *pb.Envelope
	terms   terms
	// Whether a reply was processed for which the server gets no credit yet.
	owesCredit bool
	hasEnded   bool
}

// terms are those of the replies to a request.
type terms struct {
	// The replies that the server may send before it gets credit; without credit, altogether.
	window    int
	hasCredit bool
	// The time until the request is sent, and for each reply; 0 for that of the context.
	timeout time.Duration
}

type traceKey struct{}

// WithTrace returns a context whose requests have an id for the server's log and `larder top`, such
// as a W3C traceparent: at most 128 printable ASCII characters without spaces. The server refuses
// any other id with CodeMalformedValue.
func WithTrace(ctx context.Context, trace string) context.Context {
	return context.WithValue(ctx, traceKey{}, trace)
}

// start sends a request.
func (l *link) start(
	ctx context.Context, request *pb.Envelope, terms terms,
) (*exchange, *Error) {
	if deadline, exists := ctx.Deadline(); exists {
		left := time.Until(deadline).Milliseconds()
		if left <= 0 {
			<-ctx.Done()
			return nil, unsent(endOf(ctx))
		}
		// The server gets a little less, so that its reply comes before the end of the context, and
		// says whether a write was executed.
		margin := left / 10
		if margin > marginMax.Milliseconds() {
			margin = marginMax.Milliseconds()
		}
		if left < 1<<31 {
			request.TimeoutMilliseconds = uint32(left - margin)
		}
	}
	if trace, exists := ctx.Value(traceKey{}).(string); exists {
		request.Trace = trace
	}
	slots := l.slots
	if request.GetHistory().GetFollow() || request.GetObserve() != nil {
		// It is not in flight, and has a slot of its own.
		slots = make(chan struct{}, 1)
		request.TimeoutMilliseconds = 0
	}
	if terms.timeout > 0 {
		limited, cancel := context.WithTimeout(ctx, terms.timeout)
		defer cancel()
		ctx = limited
	}
	select {
	case slots <- struct{}{}:
	case <-l.done:
		return nil, unsent(l.failed())
	case <-ctx.Done():
		return nil, unsent(endOf(ctx))
	}
	e := &exchange{
		link: l, slots: slots, terms: terms, replies: make(chan *pb.Envelope, terms.window+1),
	}
	l.mutex.Lock()
	l.lastID++
	e.id = l.lastID
	l.waiting[e.id] = e.replies
	l.mutex.Unlock()
	request.Id = e.id
	if err := l.send(ctx, request); err != nil {
		e.finish()
		return nil, err
	}
	return e, nil
}

func (e *exchange) finish() {
	e.hasEnded = true
	e.release()
}

// release frees the id and the slot.
func (e *exchange) release() {
	e.link.mutex.Lock()
	delete(e.link.waiting, e.id)
	e.link.mutex.Unlock()
	<-e.slots
}

// next waits for a reply, after allowing another one for the last. An error ends the exchange.
func (e *exchange) next(ctx context.Context) (*pb.Envelope, *Error) {
	if e.owesCredit {
		e.owesCredit = false
		credit := &pb.CreditRequest{RequestId: e.id, Batches: 1}
		envelope := &pb.Envelope{Id: e.id, Body: &pb.Envelope_Credit{Credit: credit}}
		if err := e.link.send(ctx, envelope); err != nil {
			e.leave()
			err.isUnsent = false
			return nil, err
		}
	}
	reply, err := e.wait(ctx)
	if err != nil {
		e.leave()
		return nil, err
	}
	if failed := reply.GetFailed(); failed != nil {
		e.finish()
		return nil, replied(failed)
	}
	if hasSuccessor(reply) {
		e.owesCredit = e.terms.hasCredit
	} else {
		e.finish()
	}
	return reply, nil
}

func (e *exchange) wait(ctx context.Context) (*pb.Envelope, *Error) {
	if e.terms.timeout > 0 {
		limited, cancel := context.WithTimeout(ctx, e.terms.timeout)
		defer cancel()
		ctx = limited
	}
	select {
	case reply := <-e.replies:
		return reply, nil
	case <-ctx.Done():
		return nil, endOf(ctx)
	case <-e.link.done:
		// The reply may have arrived before the end of the connection.
		select {
		case reply := <-e.replies:
			return reply, nil
		default:
			return nil, e.link.failed()
		}
	}
}

// leave ends the exchange before its last reply. The replies that are on their way still have the
// id, so it is freed later.
func (e *exchange) leave() {
	if e.hasEnded {
		return
	}
	e.hasEnded, e.terms.timeout = true, 0
	go func() {
		defer e.release()
		request := &pb.CancelRequest{RequestId: e.id}
		cancel := &pb.Envelope{Id: e.id, Body: &pb.Envelope_Cancel{Cancel: request}}
		ctx, stop := context.WithTimeout(context.Background(), e.link.cancelTimeout)
		defer stop()
		err := e.link.send(ctx, cancel)
		for err == nil {
			var reply *pb.Envelope
			if reply, err = e.wait(ctx); err == nil && !hasSuccessor(reply) {
				return
			}
		}
		// Without this reply, nobody knows when the id is free.
		e.link.fail(newError(CodeConnectionFailed, "the server does not reply"))
	}()
}

// refuse ends the connection because of a reply that the protocol does not allow.
func (e *exchange) refuse(err *Error) *Error {
	if err != nil && err.Code == CodeMalformedMessage && !err.isReply {
		e.link.fail(err)
	}
	return err
}

// hasSuccessor reports whether another reply to the same request follows.
func hasSuccessor(reply *pb.Envelope) bool {
	return reply.GetBatches().GetMore() || reply.GetTransactions().GetMore() ||
		reply.GetObserved().GetMore() || reply.GetInserted().GetMore() || reply.GetSaved().GetMore()
}
