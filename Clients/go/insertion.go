package larder

import (
	"context"
	"fmt"

	pb "larder/internal/larderv1"
)

const (
	// A batch of rows is sent when it has as many rows, or about as many bytes.
	batchRowsMax  = 5_000
	batchBytesMax = 1 << 20
	// The batches that may be in flight.
	batchesInFlightMax = 4
	// The replies to them, and the progress that the server repeats each second while a program
	// does not read it.
	insertionWindow = 64
)

// InsertOptions says how rows are stored.
type InsertOptions struct {
	// Atomic stores all rows as one transaction. Otherwise each batch of some thousand rows is one.
	Atomic bool
	// Upsert updates the object that already has the unique values of a row.
	Upsert bool
	// Author is recorded in the history; empty: Options.Author.
	Author string
}

// Insertion is a stream of new objects of one entity, in bounded memory on both sides.
//
//	insertion, err := store.InsertMany(ctx, "Student", []string{"name"}, larder.InsertOptions{})
//	if err != nil { … }
//	defer insertion.Close()
//	for _, name := range names {
//		if err := insertion.Add(name); err != nil { … }
//	}
//	count, err := insertion.Finish()
type Insertion struct {
	ctx        context.Context
	exchange   *exchange
	properties []property
	options    InsertOptions
	columns    []*columnBuilder
	rowCount   int
	sent       int64
	processed  int64
	stored     int64
	isLastSent bool
	err        *Error
}

// InsertMany opens a stream of new objects that have values for these properties; others get their
// defaults. The deadline of the context is that of the whole stream. The stream is not repeated if
// its connection is lost. It is a request in flight until it is finished or closed.
func (c *Client) InsertMany(
	ctx context.Context, entity string, properties []string, options InsertOptions,
) (*Insertion, error) {
	listed, err := c.properties(ctx, entity, properties)
	if err != nil {
		return nil, err
	}
	if options.Author == "" {
		options.Author = c.options.Author
	}
	message := &pb.InsertRequest{Entity: entity, Author: options.Author, Atomic: options.Atomic}
	if options.Upsert {
		message.OnUniqueConflict = pb.UniqueConflictPolicy_UNIQUE_CONFLICT_POLICY_UPSERT
	}
	request := &pb.Envelope{Body: &pb.Envelope_InsertRows{InsertRows: message}}
	insertion := &Insertion{ctx: ctx, properties: listed, options: options}
	// The request itself stores nothing, so it is repeated as a read.
	err = c.attempt(ctx, reading, func(ctx context.Context, link *link) (err *Error) {
		terms := terms{window: insertionWindow, timeout: c.options.RequestTimeout}
		insertion.exchange, err = link.start(ctx, request, terms)
		return err
	})
	if err != nil {
		return nil, err
	}
	insertion.begin()
	return insertion, nil
}

// begin begins a batch.
func (i *Insertion) begin() {
	i.rowCount = 0
	i.columns = nil
	for _, property := range i.properties {
		i.columns = append(i.columns, newColumn(property, i.exchange.link.store))
	}
}

// Add adds an object with a value for each property. It waits while too many rows are in flight.
// The errors are those of the values, also of earlier rows: Violation.Change is the index of the
// row in the stream. After an error no more rows are stored: of several transactions, Stored has
// the number of rows that are; of an atomic stream none.
func (i *Insertion) Add(values ...any) error {
	if i.err != nil {
		return i.err
	}
	if i.exchange.hasEnded {
		return i.fail(newError(CodeCancelled, "the insertion has ended"))
	}
	if len(values) != len(i.properties) {
		return i.fail(newError(CodeWrongType,
			"a row has %d values, and there are %d properties", len(values), len(i.properties)))
	}
	bytes := 0
	for index, value := range values {
		if err := i.columns[index].append(value); err != nil {
			return i.fail(err)
		}
		bytes += i.columns[index].bytes
	}
	i.rowCount++
	if i.rowCount < batchRowsMax && bytes < batchBytesMax {
		return nil
	}
	return i.send(false)
}

// AddStruct adds an object with the values of the fields of a struct whose tags name the
// properties; see Row.ScanStruct.
func (i *Insertion) AddStruct(object any) error {
	named, err := written(object)
	if err != nil {
		return i.fail(err)
	}
	values := make([]any, len(i.properties))
	for index, property := range i.properties {
		value, exists := named[property.name]
		if !exists {
			return i.fail(newError(CodeMissingValue, "%T has no value for %s", object, property.name))
		}
		values[index] = value
	}
	return i.Add(values...)
}

// Finish sends the last rows, waits until all are stored, and returns their number. The errors are
// those of Add, and INDETERMINATE if the connection was lost and rows may have been stored.
func (i *Insertion) Finish() (int64, error) {
	if i.err != nil {
		return 0, i.err
	}
	if i.exchange.hasEnded {
		return 0, i.fail(newError(CodeCancelled, "the insertion has ended"))
	}
	if err := i.send(true); err != nil {
		return 0, err
	}
	for !i.exchange.hasEnded {
		if err := i.receive(); err != nil {
			return 0, err
		}
	}
	return i.stored, nil
}

// Stored returns the number of rows that are certainly stored; of an atomic stream that is not
// finished, the number that the server has received.
func (i *Insertion) Stored() int64 { return i.stored }

// Close ends the stream. Without Finish, an atomic stream stores nothing. It returns nil.
func (i *Insertion) Close() error {
	i.exchange.leave()
	return nil
}

// fail ends the stream by an error.
func (i *Insertion) fail(err *Error) error {
	if i.err == nil {
		i.err = i.outcome(err)
		i.exchange.leave()
	}
	return i.err
}

// outcome adds to an error how many rows are stored.
func (i *Insertion) outcome(err *Error) *Error {
	isUncertain := !err.isReply && i.isLastSent
	if !i.options.Atomic {
		isUncertain = !err.isReply && i.sent > i.processed
	}
	if isUncertain {
		err = indeterminate(err, false)
		err.Hint = "check which rows are stored before you insert any again"
	}
	if !i.options.Atomic {
		copied := *err
		err = &copied
		stored := fmt.Sprintf("%d rows are stored", i.stored)
		if err.Hint != "" {
			stored = err.Hint + "; " + stored
		}
		err.Hint = stored
	}
	return err
}

// send sends the rows of the batch.
func (i *Insertion) send(isLast bool) error {
	for i.sent-i.processed >= batchesInFlightMax {
		if err := i.receive(); err != nil {
			return err
		}
	}
	message := &pb.RowsRequest{RequestId: i.exchange.id, Last: isLast}
	if i.rowCount > 0 {
		message.Batch = &pb.Batch{RowCount: uint32(i.rowCount)}
		for _, column := range i.columns {
			message.Batch.Columns = append(message.Batch.Columns, column.column)
		}
	}
	envelope := &pb.Envelope{Id: i.exchange.id, Body: &pb.Envelope_Rows{Rows: message}}
	ctx, cancel := context.WithTimeout(i.ctx, i.exchange.terms.timeout)
	defer cancel()
	if err := i.exchange.link.send(ctx, envelope); err != nil {
		return i.fail(err)
	}
	i.sent++
	i.isLastSent = isLast
	i.begin()
	return nil
}

// receive waits for the reply to a batch.
func (i *Insertion) receive() error {
	reply, err := i.exchange.next(i.ctx)
	if err != nil {
		return i.fail(err)
	}
	inserted := reply.GetInserted()
	if inserted == nil || inserted.BatchCount < i.processed || inserted.BatchCount > i.sent ||
		inserted.RowCount < i.stored || !inserted.More && !i.isLastSent {
		return i.fail(i.exchange.refuse(otherReply()))
	}
	i.processed, i.stored = inserted.BatchCount, inserted.RowCount
	return nil
}
