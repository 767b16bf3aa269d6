package larder

import (
	"context"
	"time"

	pb "larder/internal/larderv1"
)

// The replies to a followed history or an observed query that may be on their way.
const followWindow = 16

// follower is a request that the server answers until it is cancelled: over one connection, and if
// that is lost, over the next one.
type follower struct {
	client *Client
	ctx    context.Context
	// The request for a new connection, without its credit.
	request  func() *pb.Envelope
	exchange *exchange
	// Whether the next reply is the first one of a connection.
	isFirst bool
}

// next returns the next reply. After a loss it waits for Options.ReconnectWait.
func (f *follower) next() (*pb.Envelope, *Error) {
	var deadline time.Time
	for pause := pauseMin; ; pause = longer(pause) {
		reply, err := f.receive(deadline)
		if err == nil {
			return reply, nil
		}
		f.exchange = nil
		if deadline.IsZero() {
			deadline = time.Now().Add(f.client.options.ReconnectWait)
		}
		isFinal := !err.isLost() || f.client.options.ReconnectWait < 0
		if isFinal || time.Now().Add(pause).After(deadline) {
			return nil, err
		}
		if !wait(f.ctx, pause) {
			return nil, endAfter(f.ctx, err)
		}
	}
}

func (f *follower) receive(deadline time.Time) (*pb.Envelope, *Error) {
	if f.exchange == nil {
		link, err := f.client.connection(f.ctx, deadline)
		if err != nil {
			return nil, err
		}
		ctx, cancel := context.WithTimeout(f.ctx, f.client.options.RequestTimeout)
		defer cancel()
		terms := terms{window: followWindow, hasCredit: true}
		if f.exchange, err = link.start(ctx, f.request(), terms); err != nil {
			return nil, err
		}
		f.isFirst = true
	}
	reply, err := f.exchange.next(f.ctx)
	if err == nil && f.exchange.hasEnded {
		// It ends by an error only.
		return nil, f.exchange.refuse(otherReply())
	}
	return reply, err
}

// refused ends the exchange, and its connection, because of a reply that the protocol does not
// allow.
func (f *follower) refused(err *Error) *Error {
	f.exchange.leave()
	return f.exchange.refuse(err)
}

func (f *follower) close() {
	if f.exchange != nil {
		f.exchange.leave()
	}
}
