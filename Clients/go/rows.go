package larder

import (
	"context"
	"time"

	pb "larder/internal/larderv1"
)

// The replies of a query that may be on their way.
const queryWindow = 4

// queryStream is the result of a query, batch by batch.
type queryStream struct{ exchange *exchange }

func startQuery(
	ctx context.Context, link *link, request *pb.QueryRequest, timeout time.Duration,
) (*queryStream, *Error) {
	request.Credit = queryWindow
	envelope := &pb.Envelope{Body: &pb.Envelope_Query{Query: request}}
	exchange, err := link.start(ctx, envelope, terms{queryWindow, true, timeout})
	if err != nil {
		return nil, err
	}
	return &queryStream{exchange}, nil
}

// next returns the next batch; none after the last.
func (s *queryStream) next(ctx context.Context) (*batch, *Error) {
	if s.exchange.hasEnded {
		return nil, nil
	}
	reply, err := s.exchange.next(ctx)
	if err != nil {
		return nil, err
	}
	batches := reply.GetBatches()
	if batches == nil || len(batches.Batches) != 1 {
		return nil, s.refused(otherReply())
	}
	batch, err := check(batches.Batches[0], s.exchange.link.store)
	if err != nil {
		return nil, s.refused(err)
	}
	return batch, nil
}

// refused ends the stream, and its connection, because of a reply that the protocol does not allow.
func (s *queryStream) refused(err *Error) *Error {
	s.exchange.leave()
	return s.exchange.refuse(err)
}

// Rows is a result that is read row by row, in bounded memory.
//
//	rows, err := store.Stream(ctx, query)
//	if err != nil { … }
//	defer rows.Close()
//	for rows.Next() {
//		use(rows.Row())
//	}
//	if err := rows.Err(); err != nil { … }
//
// All rows are of one state of the store. A program that does not read for longer than the time
// limit gets the error SNAPSHOT_EXPIRED or TIMEOUT.
type Rows struct {
	ctx    context.Context
	stream *queryStream
	batch  *batch
	index  int
	row    Row
	err    *Error
}

// Stream runs a query. The result is read as it arrives, and has to be closed; it is a request in
// flight until then.
func (c *Client) Stream(ctx context.Context, query Query) (*Rows, error) {
	request, err := query.request()
	if err != nil {
		return nil, err
	}
	rows := &Rows{ctx: ctx}
	err = c.attempt(ctx, reading, func(ctx context.Context, link *link) (err *Error) {
		rows.stream, err = startQuery(ctx, link, request, c.options.RequestTimeout)
		if err != nil {
			return err
		}
		rows.batch, err = rows.stream.next(ctx)
		return err
	})
	if err != nil {
		return nil, err
	}
	return rows, nil
}

// Next moves to the next row. It returns false after the last row, and after an error; see Err.
func (r *Rows) Next() bool {
	for r.err == nil && r.batch != nil {
		if r.index < r.batch.count {
			if r.row, r.err = r.batch.row(r.index); r.err != nil {
				r.err = r.stream.refused(r.err)
				return false
			}
			r.index++
			return true
		}
		r.index = 0
		r.batch, r.err = r.stream.next(r.ctx)
	}
	r.row = Row{}
	return false
}

// Row returns the current row.
func (r *Rows) Row() Row { return r.row }

// Scan copies the values of the current row; see Row.Scan.
func (r *Rows) Scan(pointers ...any) error { return r.row.Scan(pointers...) }

// ScanStruct copies the values of the current row; see Row.ScanStruct.
func (r *Rows) ScanStruct(pointer any) error { return r.row.ScanStruct(pointer) }

// Err returns the error that ended the rows; nil after the last row.
func (r *Rows) Err() error { return public(r.err) }

// Close ends the result, and cancels the rest of it. It returns nil.
func (r *Rows) Close() error {
	r.batch, r.row = nil, Row{}
	r.stream.exchange.leave()
	return nil
}
