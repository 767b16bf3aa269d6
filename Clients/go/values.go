package larder

import (
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"time"

	pb "larder/internal/larderv1"
)

// Dates are seconds since 2001-01-01T00:00:00Z.
const epoch = 978_307_200

// Dates beyond this number of seconds do not fit into a time.Time.
const secondsMax = 1 << 53

// Decimal is a decimal number as text, such as `-12.50` or `1e-7`; at most 38 significant digits.
type Decimal string

// URL is the value of an attribute of the type url, with its special characters percent-encoded.
type URL string

// Values has the values of properties by their names. A value is nil or one of bool, an integer,
// float32, float64, Decimal, string, time.Time, UUID, URL, []byte, json.RawMessage, Identifier and
// []Identifier, or a pointer to one, or of a type that is defined by one. A nil slice of bytes or
// of JSON is nil.
type Values map[string]any

// value converts a value of Go.
func value(given any) (*pb.Value, *Error) {
	switch given := given.(type) {
	case nil:
		return null(), nil
	case bool:
		return &pb.Value{Kind: &pb.Value_BoolValue{BoolValue: given}}, nil
	case int:
		return integer(int64(given)), nil
	case int64:
		return integer(given), nil
	case float64:
		return &pb.Value{Kind: &pb.Value_DoubleValue{DoubleValue: given}}, nil
	case string:
		return &pb.Value{Kind: &pb.Value_StringValue{StringValue: given}}, nil
	case Decimal:
		return &pb.Value{Kind: &pb.Value_DecimalValue{DecimalValue: string(given)}}, nil
	case URL:
		return &pb.Value{Kind: &pb.Value_UrlValue{UrlValue: string(given)}}, nil
	case time.Time:
		return &pb.Value{Kind: &pb.Value_DateValue{DateValue: seconds(given)}}, nil
	case UUID:
		return &pb.Value{Kind: &pb.Value_UuidValue{UuidValue: given[:]}}, nil
	case json.RawMessage:
		if given == nil {
			return null(), nil
		}
		return &pb.Value{Kind: &pb.Value_JsonValue{JsonValue: string(given)}}, nil
	case []byte:
		if given == nil {
			return null(), nil
		}
		return &pb.Value{Kind: &pb.Value_DataValue{DataValue: given}}, nil
	case Identifier:
		if given.IsZero() {
			return null(), nil
		}
		return &pb.Value{Kind: &pb.Value_ObjectValue{ObjectValue: given.message()}}, nil
	case []Identifier:
		objects := &pb.Identifiers{Items: messages(given)}
		return &pb.Value{Kind: &pb.Value_ObjectsValue{ObjectsValue: objects}}, nil
	}
	return reflected(reflect.ValueOf(given))
}

func null() *pb.Value { return &pb.Value{Kind: &pb.Value_NullValue{NullValue: true}} }

func integer(value int64) *pb.Value {
	return &pb.Value{Kind: &pb.Value_IntValue{IntValue: value}}
}

// reflected converts a pointer, or a value of a type that a program defines.
func reflected(given reflect.Value) (*pb.Value, *Error) {
	if given.Kind() == reflect.Pointer {
		if given.IsNil() {
			return null(), nil
		}
		return value(given.Elem().Interface())
	}
	for _, known := range definable {
		if given.CanConvert(known) && given.Kind() == known.Kind() && given.Type() != known {
			return value(given.Convert(known).Interface())
		}
	}
	switch given.Kind() {
	case reflect.Int8, reflect.Int16, reflect.Int32:
		return integer(given.Int()), nil
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		if given.Uint() > math.MaxInt64 {
			return nil, newError(CodeMalformedValue, "%d is more than 64 bits hold", given.Uint())
		}
		return integer(int64(given.Uint())), nil
	case reflect.Float32:
		number := float32(given.Float())
		return &pb.Value{Kind: &pb.Value_FloatValue{FloatValue: number}}, nil
	}
	return nil, newError(CodeWrongType, "a property cannot have a value of type %s", given.Type())
}

// The types with which programs define types of their own.
var definable = []reflect.Type{
	reflect.TypeOf(false), reflect.TypeOf(0), reflect.TypeOf(int64(0)), reflect.TypeOf(0.0),
	reflect.TypeOf(""), reflect.TypeOf(time.Time{}), reflect.TypeOf(UUID{}),
	reflect.TypeOf([]byte(nil)), reflect.TypeOf([]Identifier(nil)),
}

// argument converts the argument of a query; a slice that is not a value is a list.
func argument(given any) (*pb.Argument, *Error) {
	list := reflect.ValueOf(given)
	isList := list.Kind() == reflect.Slice && list.Type().Elem().Kind() != reflect.Uint8
	if !isList {
		value, err := value(given)
		return &pb.Argument{Kind: &pb.Argument_Value{Value: value}}, err
	}
	items := &pb.ValueList{}
	for index := 0; index < list.Len(); index++ {
		item, err := value(list.Index(index).Interface())
		if err != nil {
			return nil, err
		}
		items.Items = append(items.Items, item)
	}
	return &pb.Argument{Kind: &pb.Argument_List{List: items}}, nil
}

func arguments(given []any) ([]*pb.Argument, *Error) {
	var converted []*pb.Argument
	for _, each := range given {
		argument, err := argument(each)
		if err != nil {
			return nil, err
		}
		converted = append(converted, argument)
	}
	return converted, nil
}

// given returns the value of a message as one of Go.
func given(value *pb.Value) (any, *Error) {
	switch kind := value.GetKind().(type) {
	case *pb.Value_NullValue:
		return nil, nil
	case *pb.Value_BoolValue:
		return kind.BoolValue, nil
	case *pb.Value_IntValue:
		return kind.IntValue, nil
	case *pb.Value_FloatValue:
		return float64(kind.FloatValue), nil
	case *pb.Value_DoubleValue:
		return kind.DoubleValue, nil
	case *pb.Value_DecimalValue:
		return Decimal(kind.DecimalValue), nil
	case *pb.Value_StringValue:
		return kind.StringValue, nil
	case *pb.Value_DateValue:
		if date, isValid := date(kind.DateValue); isValid {
			return date, nil
		}
	case *pb.Value_UuidValue:
		if uuid := (UUID{}); len(kind.UuidValue) == len(uuid) {
			copy(uuid[:], kind.UuidValue)
			return uuid, nil
		}
	case *pb.Value_UrlValue:
		return URL(kind.UrlValue), nil
	case *pb.Value_DataValue:
		return kind.DataValue, nil
	case *pb.Value_JsonValue:
		return json.RawMessage(kind.JsonValue), nil
	case *pb.Value_ObjectValue:
		return permanent(kind.ObjectValue)
	case *pb.Value_ObjectsValue:
		return permanents(kind.ObjectsValue.GetItems())
	}
	return nil, violation("the server sent a value that is not valid")
}

func seconds(date time.Time) float64 {
	return float64(date.Unix()-epoch) + float64(date.Nanosecond())/1e9
}

// date returns the time of a date, and whether there is one.
func date(seconds float64) (time.Time, bool) {
	if !(math.Abs(seconds) <= secondsMax) {
		return time.Time{}, false
	}
	whole := math.Floor(seconds)
	nanoseconds := math.Round((seconds - whole) * 1e9)
	// A double has the microseconds of a date only nearly.
	if microseconds := math.Round((seconds - whole) * 1e6); whole+microseconds/1e6 == seconds {
		nanoseconds = 1e3 * microseconds
	}
	return time.Unix(epoch+int64(whole), int64(nanoseconds)).UTC(), true
}

// describe returns the type of a value in words.
func describe(value any) string {
	if value == nil {
		return "nil"
	}
	return fmt.Sprintf("a %T", value)
}
