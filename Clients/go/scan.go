package larder

import (
	"reflect"
	"strings"
	"sync"
)

const (
	fieldTag    = "larder"
	idName      = "@id"
	versionName = "@version"
)

// field is a field of a struct that has a tag.
type field struct {
	name string
	path []int
	// Whether the field is only read: it is not among the values of a write.
	isReadOnly bool
	isObjects  bool
}

// The fields of each type of struct.
var fieldsByType sync.Map

var (
	objectsType = reflect.TypeOf([]Identifier(nil))
	idType      = reflect.TypeOf(Identifier{})
)

// fieldsOf returns the fields with a tag of a struct or of the struct that a pointer points to.
func fieldsOf(given any) ([]field, reflect.Value, *Error) {
	target := reflect.ValueOf(given)
	if target.Kind() == reflect.Pointer && !target.IsNil() {
		target = target.Elem()
	}
	if target.Kind() != reflect.Struct {
		return nil, target, newError(CodeWrongType, "%T is not a struct", given)
	}
	fields, err := fieldsOfType(target.Type())
	return fields, target, err
}

func fieldsOfType(structure reflect.Type) ([]field, *Error) {
	if found, exists := fieldsByType.Load(structure); exists {
		return found.([]field), nil
	}
	if structure.Kind() != reflect.Struct {
		return nil, newError(CodeWrongType, "%s is not a struct", structure)
	}
	var fields []field
	names := map[string]bool{}
	for _, each := range reflect.VisibleFields(structure) {
		tag, isTagged := each.Tag.Lookup(fieldTag)
		if !isTagged {
			continue
		}
		name, options, _ := strings.Cut(tag, ",")
		if !each.IsExported() || name == "" || names[name] || options != "" && options != "readonly" {
			return nil, newError(CodeWrongType, "%s.%s: the tag %q is not valid",
				structure, each.Name, tag)
		}
		names[name] = true
		fields = append(fields, field{
			name: name, path: each.Index, isObjects: each.Type == objectsType,
			isReadOnly: options == "readonly" || strings.HasPrefix(name, "@"),
		})
	}
	if len(fields) == 0 {
		return nil, newError(CodeWrongType, "no field of %s has a tag `larder:\"…\"`", structure)
	}
	fieldsByType.Store(structure, fields)
	return fields, nil
}

func (r Row) scan(fields []field, target reflect.Value) *Error {
	for _, field := range fields {
		var value any
		exists := true
		switch field.name {
		case idName:
			value = r.Identifier
		case versionName:
			value = r.Version
		default:
			value, exists = r.lookup(field.name)
		}
		if !exists && field.isObjects {
			continue
		}
		if !exists {
			return newError(CodeUnknownProperty, "the result has no value %s", field.name)
		}
		destination, err := target.FieldByIndexErr(field.path)
		if err != nil {
			return newError(CodeWrongType, "%s: an embedded pointer is nil", field.name)
		}
		if err := assign(destination, value); err != nil {
			return newError(CodeWrongType, "%s: %s", field.name, err.Message)
		}
	}
	return nil
}

// written returns the values of a struct, or Values unchanged.
func written(given any) (Values, *Error) {
	switch given := given.(type) {
	case nil:
		return nil, nil
	case Values:
		return given, nil
	case map[string]any:
		return given, nil
	}
	fields, source, err := fieldsOf(given)
	if err != nil {
		return nil, err
	}
	values := Values{}
	for _, field := range fields {
		value, err := source.FieldByIndexErr(field.path)
		if err != nil || field.isReadOnly || field.isObjects && value.IsNil() {
			continue
		}
		values[field.name] = value.Interface()
	}
	return values, nil
}

// assignTo sets the variable that a pointer points to.
func assignTo(pointer, value any) *Error {
	target := reflect.ValueOf(pointer)
	if target.Kind() != reflect.Pointer || target.IsNil() {
		return newError(CodeWrongType, "%T is not a pointer to a variable", pointer)
	}
	return assign(target.Elem(), value)
}

// assign sets a variable to a value of a row.
func assign(target reflect.Value, value any) *Error {
	if value == nil {
		return assignNil(target)
	}
	if target.Kind() == reflect.Pointer {
		element := reflect.New(target.Type().Elem())
		if err := assign(element.Elem(), value); err != nil {
			return err
		}
		target.Set(element)
		return nil
	}
	source := reflect.ValueOf(value)
	if source.Type().AssignableTo(target.Type()) {
		target.Set(source)
		return nil
	}
	switch {
	case source.Kind() == reflect.Int64 && target.CanInt() && !target.OverflowInt(source.Int()):
		target.SetInt(source.Int())
	case source.Kind() == reflect.Int64 && target.CanUint() && source.Int() >= 0 &&
		!target.OverflowUint(uint64(source.Int())):
		target.SetUint(uint64(source.Int()))
	case source.Kind() == reflect.Float64 && target.CanFloat():
		target.SetFloat(source.Float())
	case isConvertible(source.Type(), target.Type()):
		target.Set(source.Convert(target.Type()))
	default:
		return newError(CodeWrongType, "a variable of type %s cannot have %s",
			target.Type(), describe(value))
	}
	return nil
}

// isConvertible reports whether a type of values and a type that a program defines have the same
// form.
func isConvertible(source, target reflect.Type) bool {
	return source.Kind() == target.Kind() && source.ConvertibleTo(target)
}

// assignNil sets a variable that can be nil, or an identifier, to nil.
func assignNil(target reflect.Value) *Error {
	switch target.Kind() {
	case reflect.Pointer, reflect.Interface, reflect.Slice, reflect.Map:
	default:
		if target.Type() != idType {
			return newError(CodeWrongType,
				"a variable of type %s cannot have nil; use a pointer", target.Type())
		}
	}
	target.Set(reflect.Zero(target.Type()))
	return nil
}

// ScanRows returns the rows as values of a struct; see Row.ScanStruct.
func ScanRows[T any](rows []Row) ([]T, error) {
	fields, err := fieldsOfType(typeOf[T]())
	if err != nil {
		return nil, err
	}
	scanned := make([]T, len(rows))
	for index, row := range rows {
		if err := row.scan(fields, reflect.ValueOf(&scanned[index]).Elem()); err != nil {
			return nil, err
		}
	}
	return scanned, nil
}

func typeOf[T any]() reflect.Type { return reflect.TypeOf((*T)(nil)).Elem() }
