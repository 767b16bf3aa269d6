package larder

import (
	"context"
	"time"

	pb "larder/internal/larderv1"
)

// The pauses between attempts to connect.
const (
	pauseMin = 10 * time.Millisecond
	pauseMax = 500 * time.Millisecond
)

func longer(pause time.Duration) time.Duration {
	if pause < pauseMax/2 {
		return 2 * pause
	}
	return pauseMax
}

// wait pauses; it returns false if the context ends first.
func wait(ctx context.Context, pause time.Duration) bool {
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// access says how a call may be repeated.
type access int

const (
	reading access = iota
	writing
	// A write with an idempotency key.
	writingWithKey
)

// perform tries a call, and repeats it over a new connection as far as that is safe.
func (c *Client) perform(
	ctx context.Context, access access, try func(context.Context, *link) *Error,
) *Error {
	if _, exists := ctx.Deadline(); !exists {
		limited, cancel := context.WithTimeout(ctx, c.options.RequestTimeout)
		defer cancel()
		ctx = limited
	}
	return c.attempt(ctx, access, try)
}

// attempt is perform without a time limit of its own.
func (c *Client) attempt(
	ctx context.Context, access access, try func(context.Context, *link) *Error,
) *Error {
	mayHaveRun := false
	// The end of the wait for a connection, from the first loss.
	var deadline time.Time
	for pause := pauseMin; ; pause = longer(pause) {
		link, err := c.connection(ctx, deadline)
		if err == nil {
			err = try(ctx, link)
		}
		if err == nil {
			return nil
		}
		if access != reading {
			mayHaveRun = mayHaveRun || err.mayHaveRun()
		}
		isFinal := !err.isLost() || mayHaveRun && access == writing ||
			link == nil || c.options.ReconnectWait < 0
		if deadline.IsZero() {
			deadline = time.Now().Add(c.options.ReconnectWait)
		}
		if isFinal || time.Now().Add(pause).After(deadline) {
			return final(err, mayHaveRun, access)
		}
		if !wait(ctx, pause) {
			return final(endAfter(ctx, err), mayHaveRun, access)
		}
	}
}

// final returns the error of a call that is not repeated.
func final(err *Error, mayHaveRun bool, access access) *Error {
	// The server looks for the key before it checks the changes, so an error in the changes means
	// that no earlier attempt was executed.
	isInChanges := err.isReply && !err.isUnsent && err.Code >= 200 && err.Code < 500
	if !mayHaveRun || isInChanges {
		return err
	}
	return indeterminate(err, access == writingWithKey)
}

// call sends a request with one reply, and passes that to a function.
func (c *Client) call(
	ctx context.Context, access access, request *pb.Envelope,
	read func(*link, *pb.Envelope) *Error,
) *Error {
	return c.perform(ctx, access, func(ctx context.Context, link *link) *Error {
		exchange, err := link.start(ctx, request, terms{window: 1})
		if err != nil {
			return err
		}
		reply, err := exchange.next(ctx)
		if err != nil {
			return err
		}
		if !exchange.hasEnded {
			exchange.leave()
			return exchange.refuse(otherReply())
		}
		return exchange.refuse(read(link, reply))
	})
}

// Ping makes a round trip through the reader and the writer of the server.
func (c *Client) Ping(ctx context.Context) error {
	request := &pb.Envelope{Body: &pb.Envelope_Ping{Ping: &pb.PingRequest{}}}
	return public(c.call(ctx, reading, request, func(_ *link, reply *pb.Envelope) *Error {
		if reply.GetPong() == nil {
			return otherReply()
		}
		return nil
	}))
}

// public returns an error for callers, for whom nil has no type.
func public(err *Error) error {
	if err == nil {
		return nil
	}
	return err
}
