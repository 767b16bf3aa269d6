package larder

import pb "larder/internal/larderv1"

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
	sort       []SortKey
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

// SortKey is an expression by which rows are sorted.
type SortKey struct {
	// Expression is a key path or another expression. `%@` stands for the next argument.
	Expression string
	Arguments  []any
	Descending bool
	// Nils is the position of rows whose value is nil.
	Nils NilPlacement
	// Order is that of strings.
	Order StringOrder
}

// NilPlacement is the position of rows whose sort key is nil.
type NilPlacement int32

// The positions of nil.
const (
	// NilsStandard is first in ascending order, and last in descending order.
	NilsStandard = NilPlacement(pb.NilPlacement_NIL_PLACEMENT_STANDARD)
	NilsFirst    = NilPlacement(pb.NilPlacement_NIL_PLACEMENT_FIRST)
	NilsLast     = NilPlacement(pb.NilPlacement_NIL_PLACEMENT_LAST)
)

// StringOrder is an order of strings; docs/queries.md describes each.
type StringOrder int32

// The orders of strings.
const (
	OrderPlain             = StringOrder(pb.StringOrder_STRING_ORDER_PLAIN)
	OrderCaseInsensitive   = StringOrder(pb.StringOrder_STRING_ORDER_CASE_INSENSITIVE)
	OrderLocalizedStandard = StringOrder(pb.StringOrder_STRING_ORDER_LOCALIZED_STANDARD)
)

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
		q = q.Sort(SortKey{Expression: expression})
	}
	return q
}

// SortByDescending sorts by expressions, descending, after earlier keys.
func (q Query) SortByDescending(expressions ...string) Query {
	for _, expression := range expressions {
		q = q.Sort(SortKey{Expression: expression, Descending: true})
	}
	return q
}

// Sort sorts by keys, after earlier ones.
func (q Query) Sort(keys ...SortKey) Query {
	q.sort = appended(q.sort, keys...)
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
