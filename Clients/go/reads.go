package larder

import (
	"context"

	pb "larder/internal/larderv1"
)

// Get returns an object with all its attributes and relationships. The error is OBJECT_NOT_FOUND
// (ErrNotFound) if it was deleted or never existed, and FOREIGN_IDENTIFIER if it is of another
// store.
func (c *Client) Get(ctx context.Context, identifier Identifier) (Row, error) {
	row, err := c.object(ctx, identifier, nil)
	return row, public(err)
}

func (c *Client) object(
	ctx context.Context, identifier Identifier, properties *pb.PropertyNames,
) (Row, *Error) {
	rows, err := c.objects(ctx, []Identifier{identifier}, properties)
	if err == nil && len(rows) > 1 {
		err = otherReply()
	}
	if err != nil {
		return Row{}, err
	}
	if len(rows) == 0 {
		return Row{}, &Error{
			Code: CodeObjectNotFound, Message: identifier.URI() + " does not exist",
			URI: identifier.URI(),
		}
	}
	return rows[0], nil
}

// GetAll returns the objects that exist, with all their attributes and relationships: by entity, in
// the order in which the entities first occur, and then in the order of the identifiers. Others are
// omitted.
func (c *Client) GetAll(ctx context.Context, identifiers ...Identifier) ([]Row, error) {
	rows, err := c.objects(ctx, identifiers, nil)
	return rows, public(err)
}

func (c *Client) objects(
	ctx context.Context, identifiers []Identifier, properties *pb.PropertyNames,
) ([]Row, *Error) {
	get := &pb.GetRequest{Identifiers: messages(identifiers), Properties: properties}
	request := &pb.Envelope{Body: &pb.Envelope_Get{Get: get}}
	var rows []Row
	err := c.call(ctx, reading, request, func(link *link, reply *pb.Envelope) (err *Error) {
		rows = nil
		if reply.GetBatches() == nil {
			return otherReply()
		}
		for _, batch := range reply.GetBatches().Batches {
			if rows, err = appendRows(rows, batch, link.store); err != nil {
				return err
			}
		}
		return nil
	})
	return rows, err
}

// Fetch returns the rows of a query. For results that may be large, use Stream.
func (c *Client) Fetch(ctx context.Context, query Query) ([]Row, error) {
	rows, err := c.fetch(ctx, query)
	return rows, public(err)
}

func (c *Client) fetch(ctx context.Context, query Query) ([]Row, *Error) {
	request, err := query.request()
	if err != nil {
		return nil, err
	}
	var rows []Row
	err = c.perform(ctx, reading, func(ctx context.Context, link *link) *Error {
		stream, err := startQuery(ctx, link, request, 0)
		if err != nil {
			return err
		}
		rows = nil
		for {
			batch, err := stream.next(ctx)
			if batch == nil || err != nil {
				return err
			}
			for index := 0; index < batch.count; index++ {
				row, err := batch.row(index)
				if err != nil {
					return stream.refused(err)
				}
				rows = append(rows, row)
			}
		}
	})
	return rows, err
}

// Aggregate returns the rows of a query that computes values, one for each group: the values of
// GroupBy, then those of Compute.
func (c *Client) Aggregate(ctx context.Context, query Query) ([]Row, error) {
	if !query.isAggregate() {
		return nil, newError(CodeUnsupported, "the query has neither groups nor computed columns")
	}
	return c.Fetch(ctx, query)
}

// Count returns the number of objects that match the predicate of a query.
func (c *Client) Count(ctx context.Context, query Query) (int64, error) {
	request, err := query.countRequest()
	if err != nil {
		return 0, err
	}
	count := int64(0)
	err = c.perform(ctx, reading, func(ctx context.Context, link *link) *Error {
		stream, err := startQuery(ctx, link, request, 0)
		if err != nil {
			return err
		}
		batch, err := stream.next(ctx)
		if err != nil {
			return err
		}
		if batch == nil || batch.count != 1 || len(batch.columns) != 1 {
			return stream.refused(otherReply())
		}
		value, _ := batch.columns[0](0)
		number, isNumber := value.(int64)
		if !isNumber {
			return stream.refused(otherReply())
		}
		count = number
		stream.exchange.leave()
		return nil
	})
	return count, public(err)
}

// GetAs returns an object as a struct, with the properties that the tags of its fields name; see
// Row.ScanStruct. The errors are those of Get and ScanStruct.
func GetAs[T any](ctx context.Context, client *Client, identifier Identifier) (T, error) {
	var found T
	fields, err := fieldsOfType(typeOf[T]())
	if err != nil {
		return found, err
	}
	names := &pb.PropertyNames{}
	for _, field := range fields {
		if field.name != idName && field.name != versionName {
			names.Names = append(names.Names, field.name)
		}
	}
	row, err := client.object(ctx, identifier, names)
	if err != nil {
		return found, err
	}
	scanFailure := row.ScanStruct(&found)
	return found, scanFailure
}

// FetchAs returns the rows of a query as structs. A query without columns gets those that the tags
// of the fields name, which may be key paths such as `larder:"author.name"`, and also to-many
// relationships. The errors are those of Fetch and Row.ScanStruct.
func FetchAs[T any](ctx context.Context, client *Client, query Query) ([]T, error) {
	fields, err := fieldsOfType(typeOf[T]())
	if err != nil {
		return nil, err
	}
	if len(query.columns) == 0 && !query.isAggregate() {
		for _, field := range fields {
			if field.name != idName && field.name != versionName {
				query = query.Columns(field.name)
			}
		}
	}
	rows, err := client.fetch(ctx, query)
	if err != nil {
		return nil, err
	}
	return ScanRows[T](rows)
}
