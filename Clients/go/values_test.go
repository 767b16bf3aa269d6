package larder

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	pb "larder/internal/larderv1"

	"google.golang.org/protobuf/proto"
)

func marshalled(t testing.TB, message proto.Message) []byte {
	t.Helper()
	bytes, err := proto.Marshal(message)
	if err != nil {
		t.Fatal(err)
	}
	return bytes
}

func unmarshalled(bytes []byte, message proto.Message) bool {
	return proto.Unmarshal(bytes, message) == nil
}

type title string
type year int16

func TestAValueOfEachTypeIsConvertedAndBack(t *testing.T) {
	name, number := "a", 7
	when := time.Date(2026, 2, 3, 4, 5, 6, 789e6, time.FixedZone("", 3600))
	cases := []struct{ given, wanted any }{
		{nil, nil}, {true, true}, {1, int64(1)}, {int64(-1 << 63), int64(-1 << 63)},
		{int8(-1), int64(-1)}, {uint32(1 << 31), int64(1 << 31)}, {year(3), int64(3)},
		{0.1, 0.1}, {float32(0.5), 0.5}, {"é\x00", "é\x00"}, {title("t"), "t"},
		{Decimal("1e-7"), Decimal("1e-7")}, {URL("a:b"), URL("a:b")}, {when, when.UTC()},
		{UUID{1}, UUID{1}}, {[16]byte{2}, UUID{2}}, {[]byte{}, []byte{}}, {[]byte(nil), nil},
		{json.RawMessage("1"), json.RawMessage("1")}, {json.RawMessage(nil), nil},
		{of("Tutor", 2), of("Tutor", 2)}, {Identifier{}, nil},
		{[]Identifier{of("Tutor", 2)}, []Identifier{of("Tutor", 2)}},
		{&name, "a"}, {&number, int64(7)}, {(*string)(nil), nil}, {(*Identifier)(nil), nil},
	}
	for _, each := range cases {
		message, err := value(each.given)
		if err != nil {
			t.Errorf("%v: %v", each.given, err)
			continue
		}
		found, err := given(message)
		if err != nil || !reflect.DeepEqual(found, each.wanted) {
			t.Errorf("%#v: found %#v, expected %#v, %v", each.given, found, each.wanted, err)
		}
	}
	for _, other := range []any{uint64(1 << 63), struct{}{}, []string{"a"}, make(chan int)} {
		if message, err := value(other); err == nil {
			t.Errorf("%v: found %v", other, message)
		}
	}
}

func TestDatesKeepTheirDoubles(t *testing.T) {
	for _, seconds := range []float64{0, -0.5, 807_000_000.123456789, -1e10, 63_113_904_000} {
		date, isValid := date(seconds)
		if back := float64(date.Unix()-epoch) + float64(date.Nanosecond())/1e9; !isValid ||
			back != seconds {
			t.Errorf("%v became %v", seconds, back)
		}
	}
	for _, microseconds := range []int{1, 123_456, 789_000, 999_999} {
		wanted := time.Date(2026, 2, 3, 4, 5, 6, 1e3*microseconds, time.UTC)
		if found, _ := date(seconds(wanted)); found != wanted {
			t.Errorf("%v became %v", wanted, found)
		}
	}
	for _, seconds := range []float64{math.NaN(), math.Inf(1), math.Inf(-1), 1e300} {
		if date, isValid := date(seconds); isValid {
			t.Errorf("%v became %v", seconds, date)
		}
	}
}

func TestValuesOfTheServerThatAreNotValid(t *testing.T) {
	values := []*pb.Value{
		nil, {}, {Kind: &pb.Value_DateValue{DateValue: math.NaN()}},
		{Kind: &pb.Value_UuidValue{UuidValue: []byte{1}}},
		{Kind: &pb.Value_ObjectValue{ObjectValue: &pb.Identifier{Entity: "A"}}},
		{Kind: &pb.Value_ObjectsValue{ObjectsValue: &pb.Identifiers{Items: []*pb.Identifier{nil}}}},
	}
	for _, value := range values {
		if found, err := given(value); err == nil {
			t.Errorf("%v: found %v", value, found)
		}
	}
}

func TestIdentifiersAndTokensAsText(t *testing.T) {
	uri := "x-coredata://D70622CA-BA09-49A7-AF45-4155A9E2792F/Student/p2"
	found, err := ParseIdentifier(uri)
	if err != nil || found.URI() != uri || found.Key != 2 || found.Entity != "Student" {
		t.Error(found, err)
	}
	var decoded struct{ A, B Identifier }
	text, err := json.Marshal(map[string]any{"A": found, "B": Identifier{}})
	if err != nil || json.Unmarshal(text, &decoded) != nil || decoded.A != found {
		t.Error(string(text), err)
	}
	for _, text := range []string{
		"", "x-coredata://", uri[:len(uri)-2], uri[:len(uri)-1], uri + "x", uri + "/", "a" + uri,
		strings.Replace(uri, "p2", "p0", 1), strings.Replace(uri, "p2", "p02", 1),
		strings.Replace(uri, "p2", "p-2", 1), strings.Replace(uri, "p2", "p+2", 1),
		strings.Replace(uri, "p2", "p9223372036854775808", 1), strings.Replace(uri, "D", "G", 1),
		strings.Replace(uri, "Student", "", 1), strings.Replace(uri, "Student", "Stüdent", 1),
		strings.Replace(uri, "Student", strings.Repeat("S", 129), 1), strings.Repeat("x", 1<<20),
	} {
		found, err := ParseIdentifier(text)
		if !errors.Is(err, CodeMalformedIdentifier) || len(err.Error()) > 300 {
			t.Errorf("%.80q: found %v, %v", text, found, err)
		}
	}
	token := Token{found.Store, 1, 45}
	if token.String() != "D70622CA-BA09-49A7-AF45-4155A9E2792F-e1-n45" {
		t.Error(token)
	}
	if back, err := ParseToken(token.String()); err != nil || back != token {
		t.Error(back, err)
	}
	for _, text := range []string{"", "a", token.String() + "1 ", token.String()[:40],
		strings.Replace(token.String(), "n45", "n-1", 1),
		strings.Replace(token.String(), "n45", "n045", 1)} {
		if found, err := ParseToken(text); !errors.Is(err, CodeMalformedToken) {
			t.Errorf("%q: found %v, %v", text, found, err)
		}
	}
}

func TestEachCodeOfTheProtocolHasAConstant(t *testing.T) {
	source, err := os.ReadFile("codes.go")
	must(t, err)
	for number, name := range pb.ErrorCode_name {
		if number == 0 {
			continue
		}
		constant := "Code"
		for _, word := range strings.Split(strings.TrimPrefix(name, "ERROR_CODE_"), "_") {
			constant += word[:1] + strings.ToLower(word[1:])
		}
		words := strings.Fields(string(source))
		if !strings.Contains(strings.Join(words, " "), fmt.Sprintf("%s Code = %d", constant, number)) {
			t.Errorf("%s = %d is missing", constant, number)
		}
	}
}

func TestErrorsAreComparedByCodeAndKind(t *testing.T) {
	err := error(fmt.Errorf("it: %w", newError(CodeVersionConflict, "changed")))
	if !errors.Is(err, ErrConflict) || !errors.Is(err, CodeVersionConflict) ||
		errors.Is(err, ErrInvalid) || errors.Is(err, CodeConditionFailed) {
		t.Error(err)
	}
	unknown := &Error{Code: 499, Message: "m"}
	if unknown.Error() != "error[ERROR_499]: m" || !errors.Is(unknown, ErrConflict) {
		t.Error(unknown)
	}
	if ErrStorage.Error() != "storage failed" || Kind(9).Error() != "error of the kind 9" {
		t.Error(ErrStorage, Kind(9))
	}
}
