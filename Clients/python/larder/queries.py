"""Queries as values: Fetch, Count and Aggregate. A query without its values is a shape, whose plan
the server caches by its bytes, so equal shapes are encoded to equal bytes."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from .errors import failure
from .identifiers import Identifier
from .records import Record, entity_name, properties
from .v1 import expression_pb2, larder_pb2, query_pb2
from .values import arguments, value, variables

Columns = Sequence[str] | Mapping[str, str]
#: The replies of a stream that may be on their way.
CREDIT = 4


@dataclass(frozen=True)
class SortKey:
    """A key path or an expression to sort by. A text in its place sorts in ascending order."""

    term: str
    descending: bool = False
    #: Where nil is: first in ascending and last in descending order, or always at one end.
    nils: Literal["standard", "first", "last"] = "standard"
    strings: Literal["plain", "case_insensitive", "localized_standard"] = "plain"


@dataclass(frozen=True)
class Function:
    """A value that is computed over the objects of a group, such as Function("sum", "pages").

    The names are count, countDistinct, sum, average, minimum, maximum, median, mode and stddev.
    """

    name: str
    #: The key path or expression; only `count` may omit it, which then counts objects.
    term: str | None = None
    #: A predicate for the objects to include.
    where: str | None = None


@dataclass(frozen=True, kw_only=True)
class Query:
    """The parts that all queries have."""

    entity: str | type[Record] = dataclasses.field(kw_only=False)
    #: A predicate in Core Data's format; None is all objects.
    where: str | None = dataclasses.field(default=None, kw_only=False)
    #: The values of `%@` and `%K`. A list is one argument, for IN.
    arguments: Sequence[Any] = dataclasses.field(default=(), kw_only=False)
    #: The values of `$name`.
    variables: Mapping[str, Any] | None = None
    includes_subentities: bool = True

    def shape(self) -> query_pb2.Query:
        """The query without its values."""
        raise NotImplementedError

    def request(self, credit: int = 0) -> larder_pb2.QueryRequest:
        """The query with its values."""
        return larder_pb2.QueryRequest(
            shape=self.shape().SerializeToString(deterministic=True),
            arguments=arguments(self.arguments), variables=variables(self.variables),
            credit=credit)


@dataclass(frozen=True, kw_only=True)
class Fetch(Query):
    """A query for objects, or for columns of them: names, or names with expressions.

    `after` is a cursor: the result begins after the object with these values of the sort keys and
    this identifier, which is last in the list.
    """

    sort: Sequence[str | SortKey] = ()
    limit: int | None = None
    offset: int | None = None
    columns: Columns | None = None
    #: Removes equal rows, which then have no identifiers; requires columns.
    distinct: bool = False
    after: Sequence[Any] = ()

    def shape(self) -> query_pb2.Query:
        columns, entity = self.columns, entity_name(self.entity)
        if isinstance(self.entity, type):
            if columns is not None:
                raise failure(
                    "UNSUPPORTED", f"columns are not objects of the class {entity}",
                    hint="give the entity as text")
            columns = [each.name for each in properties(self.entity)]
        return query_pb2.Query(fetch=query_pb2.FetchQuery(
            entity=entity, predicate=optional_term(self.where), sort=sort_keys(self.sort),
            selection=self.selection(columns), columns=named_terms(columns or ()),
            distinct=self.distinct, exclude_subentities=not self.includes_subentities))

    def selection(self, columns: Columns | None) -> query_pb2.Selection:
        """The content of the rows."""
        if columns is None:
            return query_pb2.SELECTION_OBJECTS
        return query_pb2.SELECTION_COLUMNS if columns else query_pb2.SELECTION_IDENTIFIERS

    def request(self, credit: int = 0) -> larder_pb2.QueryRequest:
        made = super().request(credit)
        if self.limit is not None:
            made.limit = count("limit", self.limit)
        if self.offset is not None:
            made.offset = count("offset", self.offset)
        made.after.extend(value(each) for each in self.after)
        return made


@dataclass(frozen=True, kw_only=True)
class Count(Query):
    """The number of objects."""

    def shape(self) -> query_pb2.Query:
        return query_pb2.Query(count=query_pb2.CountQuery(
            entity=entity_name(self.entity), predicate=optional_term(self.where),
            exclude_subentities=not self.includes_subentities))


@dataclass(frozen=True, kw_only=True)
class Aggregate(Query):
    """Values that are computed over groups of objects, one row per group.

    `having` and `sort` refer to the names of the columns. The arguments are those of the predicate,
    the group keys, the columns, `having` and the sort keys, in this order.
    """

    columns: Mapping[str, str | Function]
    group_by: Columns = ()
    having: str | None = None
    sort: Sequence[str | SortKey] = ()
    limit: int | None = None

    def shape(self) -> query_pb2.Query:
        return query_pb2.Query(aggregate=query_pb2.AggregateQuery(
            entity=entity_name(self.entity), predicate=optional_term(self.where),
            group_by=named_terms(self.group_by), having=optional_term(self.having),
            columns=[aggregate_column(name, each) for name, each in self.columns.items()],
            sort=sort_keys(self.sort), exclude_subentities=not self.includes_subentities))

    def request(self, credit: int = 0) -> larder_pb2.QueryRequest:
        made = super().request(credit)
        if self.limit is not None:
            made.limit = count("limit", self.limit)
        return made


FUNCTIONS = {
    "count": "COUNT", "countDistinct": "COUNT_DISTINCT", "sum": "SUM", "average": "AVERAGE",
    "minimum": "MINIMUM", "maximum": "MAXIMUM", "median": "MEDIAN", "mode": "MODE",
    "stddev": "STDDEV"}


def count(name: str, number: int) -> int:
    """A number of rows, which is not negative."""
    if not 0 <= number < 2**63:
        raise failure("MALFORMED_VALUE", f"the {name} {number} is not a number from 0")
    return number


def term(format: str) -> query_pb2.Term:
    return query_pb2.Term(format=format)


def optional_term(format: str | None) -> query_pb2.Term | None:
    return term(format) if format is not None else None


def named_terms(columns: Columns) -> list[query_pb2.NamedTerm]:
    """Columns by name; one that is given as text has this name."""
    if isinstance(columns, str):
        raise failure("WRONG_TYPE", "columns are a list", hint=f"write [{columns!r}]")
    named = columns if isinstance(columns, Mapping) else {each: each for each in columns}
    return [query_pb2.NamedTerm(name=name, term=term(each)) for name, each in named.items()]


def sort_keys(keys: Sequence[str | SortKey]) -> list[query_pb2.SortKey]:
    if isinstance(keys, str):
        raise failure("WRONG_TYPE", "sort keys are a list", hint=f"write [{keys!r}]")
    return [sort_key(SortKey(each) if isinstance(each, str) else each) for each in keys]


def sort_key(key: SortKey) -> query_pb2.SortKey:
    return query_pb2.SortKey(
        term=term(key.term), descending=key.descending,
        nil_placement=enumerator(
            query_pb2.NilPlacement, "NIL_PLACEMENT_", key.nils.upper(), "placement of nil"),
        string_order=enumerator(
            query_pb2.StringOrder, "STRING_ORDER_", key.strings.upper(), "order of strings"))


def enumerator(enum: Any, prefix: str, name: str, meaning: str) -> Any:
    """The number of a name."""
    try:
        return enum.Value(prefix + name)
    except ValueError:
        raise failure("UNSUPPORTED", f"{name.lower()} is not a {meaning}") from None


def aggregate_column(name: str, given: str | Function) -> query_pb2.AggregateColumn:
    function = Function(given) if isinstance(given, str) else given
    if function.name not in FUNCTIONS:
        raise failure(
            "UNSUPPORTED", f"{function.name} is not a function of aggregates",
            hint=f"the functions are {', '.join(FUNCTIONS)}")
    return query_pb2.AggregateColumn(
        name=name, term=optional_term(function.term), filter=optional_term(function.where),
        function=enumerator(
            expression_pb2.AggregateFunction, "AGGREGATE_FUNCTION_", FUNCTIONS[function.name],
            "function"))


def get_request(
        wanted: Sequence[Identifier], names: Sequence[str] | None) -> larder_pb2.GetRequest:
    """A read of objects by identifier."""
    return larder_pb2.GetRequest(
        identifiers=[each.message() for each in wanted],
        properties=None if names is None else larder_pb2.PropertyNames(names=names))
