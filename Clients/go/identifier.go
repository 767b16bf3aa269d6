package larder

import (
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"

	pb "larder/internal/larderv1"
)

// UUID is the value of an attribute of that type, and the name of a store.
type UUID [16]byte

// ParseUUID returns the UUID of a text such as `D70622CA-BA09-49A7-AF45-4155A9E2792F`, in capital
// or small letters.
func ParseUUID(text string) (UUID, error) {
	var uuid UUID
	if len(text) == 36 && text[8] == '-' && text[13] == '-' && text[18] == '-' && text[23] == '-' {
		digits := text[:8] + text[9:13] + text[14:18] + text[19:23] + text[24:]
		if bytes, err := hex.DecodeString(digits); err == nil && len(bytes) == len(uuid) {
			copy(uuid[:], bytes)
			return uuid, nil
		}
	}
	return uuid, newError(CodeMalformedValue, "%s is not a UUID", excerpt(text))
}

// String returns the UUID in capital letters.
func (u UUID) String() string {
	digits := strings.ToUpper(hex.EncodeToString(u[:]))
	return strings.Join([]string{
		digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:],
	}, "-")
}

// MarshalText returns the text form.
func (u UUID) MarshalText() ([]byte, error) { return []byte(u.String()), nil }

// UnmarshalText parses the text form.
func (u *UUID) UnmarshalText(text []byte) (err error) {
	*u, err = ParseUUID(string(text))
	return err
}

// Identifier identifies one object, in every process. It is comparable; its zero value identifies
// none, and is nil as the value of a to-one relationship.
type Identifier struct {
	// Store is the store of the object.
	Store UUID
	// Entity is the actual entity of the object.
	Entity string
	// Key is the number of the object, from 1; it is never reused.
	Key int64
	// The name of an object within the change set that inserts it.
	temporaryName string
}

const (
	identifierScheme = "x-coredata://"
	// Names of entities have at most 128 bytes.
	nameBytesMax = 128
)

// ParseIdentifier returns the identifier of a URI such as
// `x-coredata://D70622CA-BA09-49A7-AF45-4155A9E2792F/Student/p2`. The error is
// MALFORMED_IDENTIFIER.
func ParseIdentifier(uri string) (Identifier, error) {
	malformed := newError(CodeMalformedIdentifier, "%s is not the URI of an object", excerpt(uri))
	malformed.Hint = "a URI is x-coredata://STORE/ENTITY/pKEY"
	parts := strings.Split(strings.TrimPrefix(uri, identifierScheme), "/")
	if !strings.HasPrefix(uri, identifierScheme) || len(parts) != 3 {
		return Identifier{}, malformed
	}
	store, err := ParseUUID(parts[0])
	key, isKey := positive(strings.TrimPrefix(parts[2], "p"))
	if err != nil || !isName(parts[1]) || !strings.HasPrefix(parts[2], "p") || !isKey {
		return Identifier{}, malformed
	}
	return Identifier{Store: store, Entity: parts[1], Key: key}, nil
}

// positive returns a number from 1 without leading zeros.
func positive(digits string) (int64, bool) {
	number, err := strconv.ParseInt(digits, 10, 64)
	return number, err == nil && number > 0 && digits[0] >= '1' && digits[0] <= '9'
}

func isName(text string) bool {
	for index, letter := range text {
		isLetter := letter >= 'A' && letter <= 'Z' || letter >= 'a' && letter <= 'z'
		isOther := letter >= '0' && letter <= '9' || letter == '_'
		if !isLetter && (index == 0 || !isOther) {
			return false
		}
	}
	return text != "" && len(text) <= nameBytesMax
}

// excerpt returns a text in quotation marks, shortened.
func excerpt(text string) string {
	const lengthMax = 100
	if len(text) > lengthMax {
		return fmt.Sprintf("%q…", text[:lengthMax])
	}
	return fmt.Sprintf("%q", text)
}

// URI returns the form in which an identifier is passed between programs.
func (i Identifier) URI() string {
	if i.temporaryName != "" {
		return "t:" + i.temporaryName
	}
	if i.IsZero() {
		return ""
	}
	return fmt.Sprintf("%s%s/%s/p%d", identifierScheme, i.Store, i.Entity, i.Key)
}

// String returns the URI.
func (i Identifier) String() string { return i.URI() }

// IsZero reports whether the identifier identifies no object.
func (i Identifier) IsZero() bool { return i == Identifier{} }

// IsTemporary reports whether the identifier is that of an object that a change set inserts.
func (i Identifier) IsTemporary() bool { return i.temporaryName != "" }

// MarshalText returns the URI, so that an identifier is a string in JSON.
func (i Identifier) MarshalText() ([]byte, error) { return []byte(i.URI()), nil }

// UnmarshalText parses a URI; the empty text is the zero value.
func (i *Identifier) UnmarshalText(text []byte) (err error) {
	if len(text) == 0 {
		*i = Identifier{}
		return nil
	}
	*i, err = ParseIdentifier(string(text))
	return err
}

func (i Identifier) message() *pb.Identifier {
	if i.temporaryName != "" {
		name := &pb.Identifier_TemporaryName{TemporaryName: i.temporaryName}
		return &pb.Identifier{Entity: i.Entity, Name: name}
	}
	store := i.Store
	return &pb.Identifier{
		Store: store[:], Entity: i.Entity, Name: &pb.Identifier_Key{Key: i.Key},
	}
}

func messages(identifiers []Identifier) []*pb.Identifier {
	items := make([]*pb.Identifier, len(identifiers))
	for index, each := range identifiers {
		items[index] = each.message()
	}
	return items
}

// permanent returns the identifier of a message of the server.
func permanent(message *pb.Identifier) (Identifier, *Error) {
	found := Identifier{Entity: message.GetEntity(), Key: message.GetKey()}
	if len(message.GetStore()) != len(found.Store) || found.Key < 1 || !isName(found.Entity) {
		return Identifier{}, violation("the server sent an identifier that is not valid")
	}
	copy(found.Store[:], message.Store)
	return found, nil
}

func permanents(messages []*pb.Identifier) ([]Identifier, *Error) {
	found := make([]Identifier, len(messages))
	for index, message := range messages {
		identifier, err := permanent(message)
		if err != nil {
			return nil, err
		}
		found[index] = identifier
	}
	return found, nil
}

// Token is a position in the history of a store: after one transaction and before the next. The
// zero value is the beginning of the history.
type Token struct {
	Store UUID
	// Epoch is that of the history: a restored backup begins another one.
	Epoch int64
	// Number is that of the last transaction before the position.
	Number int64
}

// ParseToken returns the token of its text form. The error is MALFORMED_TOKEN.
func ParseToken(text string) (Token, error) {
	malformed := newError(CodeMalformedToken, "%s is not a token of the history", excerpt(text))
	malformed.Hint = "a token is UUID-eEPOCH-nNUMBER"
	if len(text) < 36 {
		return Token{}, malformed
	}
	store, err := ParseUUID(text[:36])
	if err != nil {
		return Token{}, malformed
	}
	token := Token{Store: store}
	rest := text[36:]
	if _, err := fmt.Sscanf(rest, "-e%d-n%d", &token.Epoch, &token.Number); err != nil ||
		token.Number < 0 || token.String()[36:] != rest {
		return Token{}, malformed
	}
	return token, nil
}

// String returns the text form, such as `D70622CA-BA09-49A7-AF45-4155A9E2792F-e1-n45`.
func (t Token) String() string { return fmt.Sprintf("%s-e%d-n%d", t.Store, t.Epoch, t.Number) }

// MarshalText returns the text form.
func (t Token) MarshalText() ([]byte, error) { return []byte(t.String()), nil }

// UnmarshalText parses the text form.
func (t *Token) UnmarshalText(text []byte) (err error) {
	*t, err = ParseToken(string(text))
	return err
}

func (t Token) message() *pb.HistoryToken {
	if t == (Token{}) {
		return nil
	}
	store := t.Store
	return &pb.HistoryToken{Store: store[:], Epoch: t.Epoch, Number: t.Number}
}

func position(message *pb.HistoryToken) (Token, *Error) {
	token := Token{Epoch: message.GetEpoch(), Number: message.GetNumber()}
	if len(message.GetStore()) != len(token.Store) || token.Number < 0 {
		return Token{}, violation("the server sent a position that is not valid")
	}
	copy(token.Store[:], message.Store)
	return token, nil
}
