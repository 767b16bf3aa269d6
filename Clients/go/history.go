package larder

import (
	"context"
	"time"

	pb "larder/internal/larderv1"

	"google.golang.org/protobuf/proto"
)

// A transaction that is longer than a reply arrives in parts, which have at most this length.
const transactionBytesMax = 1 << 30

// ChangeKind is the kind of a change in the history.
type ChangeKind int32

// The kinds of changes.
const (
	Inserted = ChangeKind(pb.HistoryChangeKind_HISTORY_CHANGE_KIND_INSERTED)
	Updated  = ChangeKind(pb.HistoryChangeKind_HISTORY_CHANGE_KIND_UPDATED)
	Deleted  = ChangeKind(pb.HistoryChangeKind_HISTORY_CHANGE_KIND_DELETED)
)

// String returns `inserted`, `updated` or `deleted`.
func (k ChangeKind) String() string {
	switch k {
	case Inserted:
		return "inserted"
	case Updated:
		return "updated"
	case Deleted:
		return "deleted"
	}
	return "unknown"
}

// HistoryRequest selects transactions. Each list that is not empty selects: by author, client and
// time a transaction, by entity, kind and property some of its changes. The zero value selects all.
type HistoryRequest struct {
	// After is the position after which to read; the zero value is the oldest transaction.
	After Token
	// UpTo is the position at which to stop; the zero value is the end. Not for Follow.
	UpTo Token
	// Limit is the maximum number of transactions; 0 is no limit. Not for Follow.
	Limit int64
	// NewestFirst reverses the order. To continue, set UpTo to the position. Not for Follow.
	NewestFirst bool
	// Authors and ExcludedAuthors select by the author, Clients by the name of the program.
	Authors, ExcludedAuthors, Clients []string
	// Entities selects changes of objects of these entities, subentities included.
	Entities []string
	// Kinds selects changes of these kinds, and Properties updates of these properties.
	Kinds      []ChangeKind
	Properties []string
	// Since and Until limit the time of the commit; the zero value is no limit.
	Since, Until time.Time
	// WithoutChanges leaves out the runs and tombstones of transactions.
	WithoutChanges bool
}

// Transaction is what a save, or a batch of an insertion, has changed.
type Transaction struct {
	// Number increases with each commit, from 1.
	Number int64
	// Time is that of the commit.
	Time time.Time
	// Author is that of the change set, and Client the name of the program.
	Author, Client string
	// User and Process are those of the client; nil if they are unknown.
	User    *uint32
	Process *int32
	// Runs has the changes: inserts, then updates, then deletes, each by entity and key.
	Runs []Run
	// Tombstones has the preserved values of deleted objects.
	Tombstones []Tombstone
	// Token is the position after the transaction.
	Token Token
}

// Run is the same change of objects of one entity with consecutive keys.
type Run struct {
	Kind   ChangeKind
	Entity string
	// FirstKey and LastKey are the first and the last key.
	FirstKey, LastKey int64
	// Properties has the updated properties, sorted.
	Properties []string
}

// Tombstone has the preserved values of a deleted object.
type Tombstone struct {
	Identifier Identifier
	Values     Values
}

// History is a part of the history that is read transaction by transaction, in the form of Rows.
type History struct {
	follower follower
	request  *pb.HistoryRequest
	follows  bool
	pending  []*pb.HistoryTransaction
	// The parts so far of a transaction that the next reply continues.
	partial      *pb.HistoryTransaction
	partialBytes int
	// The position after the last transaction of `pending`.
	reached     Token
	position    Token
	transaction Transaction
	hasEnded    bool
	err         *Error
}

// History reads transactions. The error of History.Err is TOKEN_EXPIRED or FUTURE_TOKEN if the
// history cannot show what has changed since the token; read the objects again.
func (c *Client) History(ctx context.Context, request HistoryRequest) (*History, error) {
	return c.history(ctx, request, false)
}

// Follow reads transactions, and then each new one as it is committed, also over the end of a
// server: each once and in order. It ends with the context, by Close, or with an error.
func (c *Client) Follow(ctx context.Context, request HistoryRequest) (*History, error) {
	if request.UpTo != (Token{}) || request.Limit != 0 || request.NewestFirst {
		return nil, newError(CodeUnsupported, "Follow has neither an end, a limit nor another order")
	}
	return c.history(ctx, request, true)
}

func (c *Client) history(
	ctx context.Context, request HistoryRequest, follows bool,
) (*History, error) {
	message := request.message()
	message.Follow, message.Credit = follows, followWindow
	history := &History{request: message, follows: follows, position: request.After}
	history.follower = follower{client: c, ctx: ctx, request: func() *pb.Envelope {
		// The parts of a transaction are sent again.
		history.partial, history.partialBytes = nil, 0
		return &pb.Envelope{Body: &pb.Envelope_History{History: history.request}}
	}}
	return history, nil
}

func (r HistoryRequest) message() *pb.HistoryRequest {
	message := &pb.HistoryRequest{
		After: r.After.message(), UpTo: r.UpTo.message(), Authors: r.Authors,
		ExcludedAuthors: r.ExcludedAuthors, Clients: r.Clients, Entities: r.Entities,
		Properties: r.Properties, NewestFirst: r.NewestFirst, WithoutChanges: r.WithoutChanges,
	}
	for _, kind := range r.Kinds {
		message.Kinds = append(message.Kinds, pb.HistoryChangeKind(kind))
	}
	if r.Limit != 0 {
		message.LimitPresence = &pb.HistoryRequest_Limit{Limit: r.Limit}
	}
	if !r.Since.IsZero() {
		message.SincePresence = &pb.HistoryRequest_Since{Since: seconds(r.Since)}
	}
	if !r.Until.IsZero() {
		message.UntilPresence = &pb.HistoryRequest_Until{Until: seconds(r.Until)}
	}
	return message
}

// Next moves to the next transaction. It returns false after the last one, after Close and after an
// error; see Err. The last one of Follow does not come.
func (h *History) Next() bool {
	for h.err == nil {
		if len(h.pending) > 0 {
			h.transaction, h.err = transaction(h.pending[0], h.reached)
			if h.err != nil {
				h.err = h.follower.refused(h.err)
				return false
			}
			h.pending = h.pending[1:]
			h.position = h.transaction.Token
			if len(h.pending) == 0 {
				h.position = h.reached
			}
			return true
		}
		if h.hasEnded {
			return false
		}
		h.receive()
	}
	return false
}

// receive waits for the next reply.
func (h *History) receive() {
	reply, err := h.next()
	if err != nil {
		h.err = err
		return
	}
	history := reply.GetTransactions()
	if history == nil || len(history.Objects) > 0 {
		h.err = h.follower.refused(otherReply())
		return
	}
	if h.reached, err = position(history.Position); err != nil {
		h.err = h.follower.refused(err)
		return
	}
	h.hasEnded = !history.More
	if h.follows {
		h.request.After = history.Position
	}
	h.pending = history.Transactions
	if h.err = h.join(history.Partial); h.err != nil {
		h.err = h.follower.refused(h.err)
	} else if len(h.pending) == 0 {
		h.position = h.reached
	}
}

// join joins the parts of a transaction.
func (h *History) join(isPartial bool) *Error {
	if h.partial != nil && len(h.pending) > 0 {
		first := h.pending[0]
		if first.Number != h.partial.Number {
			return otherReply()
		}
		h.partialBytes += proto.Size(first)
		if h.partialBytes > transactionBytesMax {
			return newError(CodeResourceExhausted,
				"transaction %d is longer than %d bytes", first.Number, transactionBytesMax)
		}
		h.partial.Runs = append(h.partial.Runs, first.Runs...)
		h.partial.Tombstones = append(h.partial.Tombstones, first.Tombstones...)
		h.pending[0] = h.partial
	}
	h.partial = nil
	if last := len(h.pending) - 1; isPartial && last >= 0 {
		h.pending, h.partial = h.pending[:last], h.pending[last]
	} else {
		h.partialBytes = 0
	}
	return nil
}

// next returns the next reply. Without Follow it waits for a limited time, and a loss is an error.
func (h *History) next() (*pb.Envelope, *Error) {
	if h.follows {
		return h.follower.next()
	}
	f := &h.follower
	if f.exchange == nil {
		timeout := f.client.options.RequestTimeout
		err := f.client.attempt(f.ctx, reading, func(ctx context.Context, link *link) (err *Error) {
			f.exchange, err = link.start(ctx, f.request(), terms{followWindow, true, timeout})
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return f.exchange.next(f.ctx)
}

// Transaction returns the current transaction.
func (h *History) Transaction() Transaction { return h.transaction }

// Position returns the position after the current transaction, and after later ones that are not
// selected; with NewestFirst it is the position before them. Store it together with the effects of
// the transaction, and continue after it later.
func (h *History) Position() Token { return h.position }

// Err returns the error that ended the history; nil after the last transaction and after Close.
func (h *History) Err() error { return public(h.err) }

// Close ends the history. It returns nil. Cancel the context to end a Next that waits.
func (h *History) Close() error {
	h.hasEnded, h.pending = true, nil
	h.follower.close()
	return nil
}

// TokenAfter returns the position after a transaction, such as that of Saved.Transaction.
func (c *Client) TokenAfter(transaction int64) Token {
	link := c.current()
	return Token{Store: link.store, Epoch: link.welcome.HistoryEpoch, Number: transaction}
}

// CurrentToken returns the position after the last transaction.
func (c *Client) CurrentToken(ctx context.Context) (Token, error) {
	body := &pb.HistoryRequest{
		NewestFirst: true, LimitPresence: &pb.HistoryRequest_Limit{Limit: 0},
	}
	request := &pb.Envelope{Body: &pb.Envelope_History{History: body}}
	var token Token
	err := c.call(ctx, reading, request, func(_ *link, reply *pb.Envelope) (err *Error) {
		if reply.GetTransactions() == nil {
			return otherReply()
		}
		token, err = position(reply.GetTransactions().Position)
		return err
	})
	return token, public(err)
}

// transaction converts a transaction. The token has the store and the epoch.
func transaction(message *pb.HistoryTransaction, token Token) (Transaction, *Error) {
	token.Number = message.Number
	found := Transaction{
		Number: message.Number, Author: message.Author, Client: message.Client, Token: token,
	}
	var isValid bool
	if found.Time, isValid = date(message.Time); !isValid || message.Number < 1 {
		return found, otherReply()
	}
	if message.UserPresence != nil {
		user := message.GetUser()
		found.User = &user
	}
	if message.ProcessPresence != nil {
		process := message.GetProcess()
		found.Process = &process
	}
	for _, run := range message.Runs {
		kind := ChangeKind(run.Kind)
		if kind < Inserted || kind > Deleted || run.FirstKey < 1 || run.LastKey < run.FirstKey {
			return found, otherReply()
		}
		found.Runs = append(found.Runs, Run{
			kind, run.Entity, run.FirstKey, run.LastKey, run.Properties,
		})
	}
	for _, each := range message.Tombstones {
		tombstone := Tombstone{Values: Values{}}
		tombstone.Identifier = Identifier{Store: token.Store, Entity: each.Entity, Key: each.Key}
		for _, preserved := range each.Values {
			value, err := given(preserved.Value)
			if err != nil {
				return found, err
			}
			tombstone.Values[preserved.Name] = value
		}
		found.Tombstones = append(found.Tombstones, tombstone)
	}
	return found, nil
}
