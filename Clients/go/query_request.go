package larder

import (
	pb "larder/internal/larderv1"

	"google.golang.org/protobuf/proto"
)

// formed collects the arguments of phrases in the order of the protocol.
type formed struct{ arguments []any }

func (f *formed) term(phrase phrase) *pb.Term {
	if phrase.format == "" {
		return nil
	}
	f.arguments = append(f.arguments, phrase.arguments...)
	return &pb.Term{Form: &pb.Term_Format{Format: phrase.format}}
}

func (f *formed) named(list []named) []*pb.NamedTerm {
	var terms []*pb.NamedTerm
	for _, each := range list {
		terms = append(terms, &pb.NamedTerm{Name: each.name, Term: f.term(each.term)})
	}
	return terms
}

func (f *formed) sortKeys(list []SortKey) []*pb.SortKey {
	var keys []*pb.SortKey
	for _, each := range list {
		keys = append(keys, &pb.SortKey{
			Term:         f.term(phrase{each.Expression, each.Arguments}),
			Descending:   each.Descending,
			NilPlacement: pb.NilPlacement(each.Nils), StringOrder: pb.StringOrder(each.Order),
		})
	}
	return keys
}

// request returns the request for the rows.
func (q Query) request() (*pb.QueryRequest, *Error) {
	if q.isAggregate() && len(q.columns) > 0 {
		return nil, newError(CodeUnsupported,
			"a query has columns of objects, or groups and computed columns")
	}
	if q.isAggregate() {
		return q.finished(q.aggregateQuery())
	}
	f := &formed{}
	fetch := &pb.FetchQuery{
		Entity: q.entity, Predicate: f.term(q.predicate), Columns: f.named(q.columns),
		Distinct: q.isDistinct, ExcludeSubentities: q.isOwnOnly,
		Selection: pb.Selection_SELECTION_OBJECTS,
	}
	fetch.Sort = f.sortKeys(q.sort)
	if len(q.columns) > 0 && q.isDistinct {
		fetch.Selection = pb.Selection_SELECTION_VALUES
	} else if len(q.columns) > 0 {
		fetch.Selection = pb.Selection_SELECTION_COLUMNS
	}
	return q.finished(&pb.Query{Kind: &pb.Query_Fetch{Fetch: fetch}}, f)
}

func (q Query) aggregateQuery() (*pb.Query, *formed) {
	f := &formed{}
	query := &pb.AggregateQuery{
		Entity: q.entity, Predicate: f.term(q.predicate), GroupBy: f.named(q.groups),
		ExcludeSubentities: q.isOwnOnly,
	}
	for _, each := range q.aggregates {
		query.Columns = append(query.Columns, &pb.AggregateColumn{
			Name: each.name, Function: pb.AggregateFunction(each.function),
			Term: f.term(each.term), Filter: f.term(each.filter),
		})
	}
	query.Having = f.term(q.having)
	query.Sort = f.sortKeys(q.sort)
	return &pb.Query{Kind: &pb.Query_Aggregate{Aggregate: query}}, f
}

// countRequest returns the request for the number of objects.
func (q Query) countRequest() (*pb.QueryRequest, *Error) {
	if q.isAggregate() || len(q.columns)+len(q.sort)+len(q.after) > 0 || q.limit != nil ||
		q.offset != nil || q.isDistinct {
		return nil, newError(CodeUnsupported, "the number of objects depends on a predicate only")
	}
	f := &formed{}
	count := &pb.CountQuery{
		Entity: q.entity, Predicate: f.term(q.predicate), ExcludeSubentities: q.isOwnOnly,
	}
	return q.finished(&pb.Query{Kind: &pb.Query_Count{Count: count}}, f)
}

// finished returns the request for a shape, with the values of the query.
func (q Query) finished(query *pb.Query, f *formed) (*pb.QueryRequest, *Error) {
	// The server caches its plan by these bytes, so equal queries have equal ones.
	shape, err := proto.MarshalOptions{Deterministic: true}.Marshal(query)
	if err != nil {
		return nil, &Error{Code: CodeMalformedValue, Message: err.Error(), cause: err}
	}
	request := &pb.QueryRequest{Shape: shape, AssumesUtc: q.assumesUTC}
	var failure *Error
	if request.Arguments, failure = arguments(f.arguments); failure != nil {
		return nil, failure
	}
	if request.Variables, failure = q.variableArguments(); failure != nil {
		return nil, failure
	}
	for _, each := range q.after {
		value, failure := value(each)
		if failure != nil {
			return nil, failure
		}
		request.After = append(request.After, value)
	}
	if q.limit != nil {
		request.LimitPresence = &pb.QueryRequest_Limit{Limit: *q.limit}
	}
	if q.offset != nil {
		request.OffsetPresence = &pb.QueryRequest_Offset{Offset: *q.offset}
	}
	return request, nil
}

func (q Query) variableArguments() ([]*pb.NamedArgument, *Error) {
	var named []*pb.NamedArgument
	for _, each := range q.variables {
		argument, err := argument(each.value)
		if err != nil {
			return nil, err
		}
		named = append(named, &pb.NamedArgument{Name: each.name, Argument: argument})
	}
	return named, nil
}
