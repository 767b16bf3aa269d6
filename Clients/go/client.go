// Package larder is a client of larderd, after docs/protocol.md.
//
// All methods of a Client may be used by several goroutines; their requests share one connection.
// The deadline of a context is sent with the request; without one, the server's limit applies.
// Errors are *Error, which has the number, message and hint of a reply, ErrDisconnected,
// ErrClosed, and those of package net and of contexts.
//
// The package larder/v1 is generated from Proto/; see ../README.md.
package larder

import (
	"context"
	"sync"
	"time"

	pb "larder/v1"

	"google.golang.org/protobuf/proto"
)

const (
	handshakeTimeout = 10 * time.Second
	pauseMin         = 10 * time.Millisecond
	pauseMax         = time.Second
	// The replies of a stream that may be on their way.
	streamCredit = 4
)

// Client is a connection to larderd.
type Client struct {
	path, name string
	// Held by the goroutine that connects again.
	connecting sync.Mutex
	// Protects the fields below.
	mutex  sync.Mutex
	link   *link
	closed bool
}

// Connect opens a connection to the server at a socket's path. The name appears in the history.
func Connect(ctx context.Context, path, name string) (*Client, error) {
	link, err := open(ctx, path, name)
	if err != nil {
		return nil, err
	}
	return &Client{path: path, name: name, link: link}, nil
}

// Close ends the connection. Requests without a reply fail with ErrClosed.
func (c *Client) Close() error {
	c.mutex.Lock()
	c.closed = true
	c.mutex.Unlock()
	return c.current().fail(ErrClosed)
}

// Welcome returns the description of the store, and the limits of the connection.
func (c *Client) Welcome() *pb.WelcomeReply {
	return c.current().welcome
}

func (c *Client) current() *link {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	return c.link
}

// Reconnect connects again, repeatedly until there is a server, unless the connection is open.
func (c *Client) Reconnect(ctx context.Context) error {
	c.connecting.Lock()
	defer c.connecting.Unlock()
	for pause := pauseMin; c.current().failed() != nil; pause = longer(pause) {
		link, err := open(ctx, c.path, c.name)
		if err == nil {
			err = c.use(link)
		}
		if err == nil || !IsTemporary(err) {
			return err
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return err
		}
	}
	return nil
}

// use makes a connection the current one, unless the client was closed in the meantime.
func (c *Client) use(link *link) error {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if c.closed {
		link.fail(ErrClosed)
		return ErrClosed
	}
	c.link = link
	return nil
}

func longer(pause time.Duration) time.Duration {
	if pause < pauseMax/2 {
		return 2 * pause
	}
	return pauseMax
}

// Get returns the objects that exist.
func (c *Client) Get(ctx context.Context, identifiers ...*pb.Identifier) ([]Row, error) {
	request := &pb.Envelope{Body: &pb.Envelope_Get{Get: &pb.GetRequest{Identifiers: identifiers}}}
	var rows []Row
	err := c.current().exchange(ctx, request, 0, func(reply *pb.Envelope) (bool, error) {
		batches, err := body(reply, reply.GetBatches())
		if err != nil {
			return false, err
		}
		for _, batch := range batches.Batches {
			part, err := Rows(batch, c.Welcome().Store)
			if err != nil {
				return false, err
			}
			rows = append(rows, part...)
		}
		return false, nil
	})
	return rows, err
}

// Query calls a function with the rows of each batch of a result, while they arrive. If the
// function returns an error, the rest of the result is cancelled.
func (c *Client) Query(
	ctx context.Context, query *pb.Query, arguments []any, each func([]Row) error,
) error {
	// The server caches its plan by these bytes, so equal queries have equal ones.
	shape, err := proto.MarshalOptions{Deterministic: true}.Marshal(query)
	if err != nil {
		return err
	}
	request := &pb.QueryRequest{Shape: shape, Credit: streamCredit}
	for _, given := range arguments {
		argument, err := Argument(given)
		if err != nil {
			return err
		}
		request.Arguments = append(request.Arguments, argument)
	}
	envelope := &pb.Envelope{Body: &pb.Envelope_Query{Query: request}}
	link := c.current()
	return link.exchange(ctx, envelope, streamCredit, func(reply *pb.Envelope) (bool, error) {
		batches, err := body(reply, reply.GetBatches())
		if err != nil {
			return false, err
		}
		for _, batch := range batches.Batches {
			rows, err := Rows(batch, link.welcome.Store)
			if err == nil {
				err = each(rows)
			}
			if err != nil {
				return batches.More, err
			}
		}
		return batches.More, nil
	})
}

// Save saves changes as one transaction. If the connection breaks before the reply, they may or may
// not have been applied.
func (c *Client) Save(ctx context.Context, set *pb.ChangeSet) (*pb.SaveReply, error) {
	request := &pb.Envelope{Body: &pb.Envelope_Save{Save: set}}
	var saved *pb.SaveReply
	err := c.current().exchange(ctx, request, 0, func(reply *pb.Envelope) (more bool, err error) {
		saved, err = body(reply, reply.GetSaved())
		return false, err
	})
	return saved, err
}

// SaveRepeatedly saves a set with an idempotency key, and sends it again if its reply was lost. It
// is applied at most once. If the error has a code of 200 to 499, the set was not applied.
func (c *Client) SaveRepeatedly(ctx context.Context, set *pb.ChangeSet) (*pb.SaveReply, error) {
	if set.IdempotencyKey == "" {
		return nil, errNoKey
	}
	for {
		saved, err := c.Save(ctx, set)
		if err == nil || !IsTemporary(err) {
			return saved, err
		}
		select {
		case <-time.After(pauseMin):
		case <-ctx.Done():
			return nil, err
		}
		if err := c.Reconnect(ctx); err != nil {
			return nil, err
		}
	}
}

// Page is a part of the history.
type Page struct {
	// Transactions are complete, and in order.
	Transactions []*pb.HistoryTransaction
	// Position is the position after them, at which to continue.
	Position *pb.HistoryToken
}

// History calls a function with each part of the history that a request selects. If the request
// follows the history, this ends only by an error, that of the function or the context included.
func (c *Client) History(
	ctx context.Context, request *pb.HistoryRequest, each func(Page) error,
) error {
	request = proto.Clone(request).(*pb.HistoryRequest)
	request.Credit = streamCredit
	envelope := &pb.Envelope{Body: &pb.Envelope_History{History: request}}
	// The parts so far of a transaction that the next reply continues.
	var partial *pb.HistoryTransaction
	return c.current().exchange(
		ctx, envelope, streamCredit, func(reply *pb.Envelope) (bool, error) {
			history, err := body(reply, reply.GetTransactions())
			if err != nil {
				return false, err
			}
			transactions := history.Transactions
			if partial != nil && len(transactions) > 0 {
				proto.Merge(partial, transactions[0])
				transactions[0] = partial
			}
			partial = nil
			if last := len(transactions) - 1; history.Partial && last >= 0 {
				transactions, partial = transactions[:last], transactions[last]
			}
			return history.More, each(Page{transactions, history.Position})
		})
}

// Follow calls a function with each transaction after a position, and then with each new one, also
// over the end of a server: with each once and in order. It ends by an error of the function, by
// one of the context, or after this time without a server.
func (c *Client) Follow(
	ctx context.Context, after *pb.HistoryToken, patience time.Duration, each func(Page) error,
) error {
	for {
		var failure error
		request := &pb.HistoryRequest{After: after, Follow: true}
		err := c.History(ctx, request, func(page Page) error {
			after = page.Position
			failure = each(page)
			return failure
		})
		if failure != nil || !IsTemporary(err) {
			return err
		}
		waiting, cancel := context.WithTimeout(ctx, patience)
		err = c.Reconnect(waiting)
		cancel()
		if err != nil {
			return err
		}
	}
}

// Now returns the position after the last transaction.
func (c *Client) Now(ctx context.Context) (position *pb.HistoryToken, err error) {
	request := &pb.HistoryRequest{
		NewestFirst: true, LimitPresence: &pb.HistoryRequest_Limit{Limit: 0},
	}
	err = c.History(ctx, request, func(page Page) error {
		position = page.Position
		return nil
	})
	return position, err
}
