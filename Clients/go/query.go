package larder

import (
	pb "larder/internal/larderv1"

	"google.golang.org/protobuf/proto"
)

// Query selects objects of an entity, columns of them, or values that are computed over groups of
// them. Its methods return a changed copy, so that a query can be the start of several others.
//
// Predicates and expressions are those of docs/queries.md: `birthOfYear >= %@`, a key path such as
// `author.name`, `courses.@count`. `%@` stands for the next argument as a value, `%K` for the next
// one as a key path. A slice is a list, for IN and BETWEEN.
type Query struct {
	entity     string
	predicate  phrase
	columns    []named
	groups     []named
	aggregates []aggregate
	having     phrase
	sort       []sortKey
	variables  []variable
	after      []any
	limit      *int64
	offset     *int64
	isDistinct bool
	isOwnOnly  bool
	assumesUTC bool
}

// phrase is a format string and its arguments; empty for none.
type phrase struct {
	format    string
	arguments []any
}

type named struct {
	name string
	term phrase
}

type aggregate struct {
	named
	function Function
	filter   phrase
}

type sortKey struct {
	term         phrase
	isDescending bool
}

type variable struct {
	name  string
	value any
}

// Function is a function over the values of a group.
type Function int32

// The functions of Compute. Nil is ignored.
const (
	// FunctionCount counts the values, or the objects if the expression is empty.
	FunctionCount         = Function(pb.AggregateFunction_AGGREGATE_FUNCTION_COUNT)
	FunctionCountDistinct = Function(pb.AggregateFunction_AGGREGATE_FUNCTION_COUNT_DISTINCT)
	FunctionSum           = Function(pb.AggregateFunction_AGGREGATE_FUNCTION_SUM)
	FunctionAverage       = Function(pb.AggregateFunction_AGGREGATE_FUNCTION_AVERAGE)
	FunctionMinimum       = Function(pb.AggregateFunction_AGGREGATE_FUNCTION_MINIMUM)
	FunctionMaximum       = Function(pb.AggregateFunction_AGGREGATE_FUNCTION_MAXIMUM)
	FunctionMedian        = Function(pb.AggregateFunction_AGGREGATE_FUNCTION_MEDIAN)
	// FunctionStandardDeviation is that of the population.
	FunctionStandardDeviation = Function(pb.AggregateFunction_AGGREGATE_FUNCTION_STDDEV)
	// FunctionMode is the most frequent value; the smallest of several.
	FunctionMode = Function(pb.AggregateFunction_AGGREGATE_FUNCTION_MODE)
)

// appended returns a new slice, so that copies of a query share no memory that changes.
func appended[Element any](list []Element, more ...Element) []Element {
	return append(append(make([]Element, 0, len(list)+len(more)), list...), more...)
}

// From returns the query for all objects of an entity, subentities included.
func From(entity string) Query { return Query{entity: entity} }

// Where selects the objects that match a predicate, in place of an earlier one.
func (q Query) Where(format string, arguments ...any) Query {
	q.predicate = phrase{format, arguments}
	return q
}

// Column adds a column: the rows have the values of expressions instead of all attributes.
func (q Query) Column(name, expression string, arguments ...any) Query {
	q.columns = appended(q.columns, named{name, phrase{expression, arguments}})
	return q
}

// Columns adds a column for each key path, with the key path as its name.
func (q Query) Columns(keyPaths ...string) Query {
	for _, keyPath := range keyPaths {
		expression := keyPath
		if isName(keyPath) {
			// The name of a property may be a word of the language.
			expression = "#" + keyPath
		}
		q = q.Column(keyPath, expression)
	}
	return q
}

// SortBy sorts by expressions, ascending, after earlier keys.
func (q Query) SortBy(expressions ...string) Query {
	for _, expression := range expressions {
		q.sort = appended(q.sort, sortKey{term: phrase{format: expression}})
	}
	return q
}

// SortByDescending sorts by expressions, descending, after earlier keys.
func (q Query) SortByDescending(expressions ...string) Query {
	for _, expression := range expressions {
		q.sort = appended(q.sort, sortKey{phrase{format: expression}, true})
	}
	return q
}

// Limit sets the maximum number of rows.
func (q Query) Limit(count int64) Query {
	q.limit = &count
	return q
}

// Offset sets the number of rows to skip.
func (q Query) Offset(count int64) Query {
	q.offset = &count
	return q
}

// After begins after a row: the values of its sort keys, in their order, and its object. Read the
// next page with those of the last row of a page.
func (q Query) After(last Identifier, sortValues ...any) Query {
	q.after = appended(sortValues, any(last))
	return q
}

// Variable sets the value of the variable `$name` of the predicate and the expressions.
func (q Query) Variable(name string, value any) Query {
	q.variables = appended(q.variables, variable{name, value})
	return q
}

// Distinct removes duplicate rows. It requires columns; the rows are not objects then.
func (q Query) Distinct() Query {
	q.isDistinct = true
	return q
}

// WithoutSubentities excludes objects of subentities.
func (q Query) WithoutSubentities() Query {
	q.isOwnOnly = true
	return q
}

// AssumingUTC reads dates without a time zone in format strings and text arguments as UTC.
func (q Query) AssumingUTC() Query {
	q.assumesUTC = true
	return q
}

// GroupBy groups the objects by the value of an expression, which is a column of the result.
func (q Query) GroupBy(name, expression string, arguments ...any) Query {
	q.groups = appended(q.groups, named{name, phrase{expression, arguments}})
	return q
}

// Compute adds a column with the value of a function over each group, or over all objects if there
// are no groups.
func (q Query) Compute(name string, function Function, expression string, arguments ...any) Query {
	column := aggregate{named: named{name, phrase{expression, arguments}}, function: function}
	q.aggregates = appended(q.aggregates, column)
	return q
}

// ComputeWhere is Compute over the objects of each group that match a filter.
func (q Query) ComputeWhere(
	name string, function Function, expression string, filter string, arguments ...any,
) Query {
	column := aggregate{
		named{name, phrase{format: expression}}, function, phrase{filter, arguments},
	}
	q.aggregates = appended(q.aggregates, column)
	return q
}

// Having selects the groups that match a predicate over the columns of the result.
func (q Query) Having(format string, arguments ...any) Query {
	q.having = phrase{format, arguments}
	return q
}

func (q Query) isAggregate() bool { return len(q.groups)+len(q.aggregates) > 0 }

// changesByObject reports whether the server reports how single rows of the result change.
func (q Query) changesByObject() bool { return !q.isAggregate() && !q.isDistinct }

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

func (f *formed) sortKeys(list []sortKey) []*pb.SortKey {
	var keys []*pb.SortKey
	for _, each := range list {
		keys = append(keys, &pb.SortKey{Term: f.term(each.term), Descending: each.isDescending})
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
