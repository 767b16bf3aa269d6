package larder

import (
	"fmt"
	"reflect"
)

// Row is one row of a result: an object, or computed values.
type Row struct {
	// Identifier and Version are those of the object; the zero value and 0 if the row is not an
	// object. Save an update with this version to detect changes of other clients.
	Identifier Identifier
	Version    int64

	names  *names
	values []any
}

// Names returns the names of the values, in the order of the columns.
func (r Row) Names() []string {
	if r.names == nil {
		return nil
	}
	return append([]string{}, r.names.list...)
}

// Value returns a value by its name; nil if it is nil, or if the row has no such value. It is a
// bool, int64, float64, Decimal, string, time.Time, UUID, URL, []byte, json.RawMessage, Identifier
// or []Identifier.
func (r Row) Value(name string) any {
	value, _ := r.lookup(name)
	return value
}

func (r Row) lookup(name string) (any, bool) {
	if r.names == nil {
		return nil, false
	}
	index, exists := r.names.indexes[name]
	if !exists {
		return nil, false
	}
	return r.values[index], true
}

// Values returns all values by their names.
func (r Row) Values() Values {
	all := make(Values, len(r.values))
	for index, value := range r.values {
		all[r.names.list[index]] = value
	}
	return all
}

// Scan copies the values, in the order of the columns, to the variables that the pointers point to.
// A value that may be nil needs a pointer to a pointer, to any, or to a slice. The error is
// WRONG_TYPE for a value that the variable cannot have.
func (r Row) Scan(pointers ...any) error {
	if len(pointers) != len(r.values) {
		return newError(CodeWrongType,
			"the row has %d values, and %d pointers are given", len(r.values), len(pointers))
	}
	for index, pointer := range pointers {
		if err := assignTo(pointer, r.values[index]); err != nil {
			return newError(CodeWrongType, "column %s: %s", r.names.list[index], err.Message)
		}
	}
	return nil
}

// ScanStruct copies the values to the fields of the struct that the pointer points to: each field
// with a tag `larder:"name"` gets the value with this name, `larder:"@id"` the identifier, and
// `larder:"@version"` the version. The fields of embedded structs are among them. The errors are
// WRONG_TYPE, and UNKNOWN_PROPERTY if the row has no such value; a field of type []Identifier is
// then unchanged, because fetches of objects have no to-many relationships.
func (r Row) ScanStruct(pointer any) error {
	fields, target, err := fieldsOf(pointer)
	if err == nil && !target.CanSet() {
		err = newError(CodeWrongType, "%T is not a pointer to a struct", pointer)
	}
	if err == nil {
		err = r.scan(fields, target)
	}
	if err != nil {
		return err
	}
	return nil
}

// String returns the values as text, for debugging.
func (r Row) String() string {
	if r.names == nil {
		return "{}"
	}
	return fmt.Sprintf("%v %v", r.Identifier, map[string]any(r.Values()))
}

// equals reports whether a row is the same object with the same version and values.
func (r Row) equals(other Row) bool {
	return r.Identifier == other.Identifier && r.Version == other.Version &&
		reflect.DeepEqual(r.values, other.values)
}
