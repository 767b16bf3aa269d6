package larder

import (
	"fmt"
	"strings"

	pb "larder/internal/larderv1"
)

// Kind is the class of a code: its hundreds digit, which determines how a program can react.
type Kind uint32

// The kinds of errors, for errors.Is.
const (
	// ErrProtocol: a message violates the protocol.
	ErrProtocol Kind = iota + 1
	// ErrNotFound: an identifier, a token or an entity is not in the store.
	ErrNotFound
	// ErrInvalid: the data or the query is invalid.
	ErrInvalid
	// ErrConflict: another client changed the objects first; read them again.
	ErrConflict
	// ErrRefused: a limit or a permission forbids the request.
	ErrRefused
	// ErrUnavailable: the same request may succeed later.
	ErrUnavailable
	// ErrConnection: there is no connection, or it was lost.
	ErrConnection
	// ErrStorage: the storage of the server failed.
	ErrStorage
)

// Error returns a description of the kind.
func (k Kind) Error() string {
	names := []string{
		"protocol error", "not found", "invalid request", "conflict", "refused", "unavailable",
		"connection failed", "storage failed",
	}
	if k < 1 || int(k) > len(names) {
		return fmt.Sprintf("error of the kind %d", uint32(k))
	}
	return names[k-1]
}

// Code is the stable number of an error. A later server may send numbers without a constant here;
// their kind says how to react.
type Code uint32

// Kind returns the class of the code.
func (c Code) Kind() Kind { return Kind(c / 100) }

// String returns the name of the code, such as `VERSION_CONFLICT`.
func (c Code) String() string {
	if name, exists := pb.ErrorCode_name[int32(c)]; exists {
		return strings.TrimPrefix(name, "ERROR_CODE_")
	}
	return fmt.Sprintf("ERROR_%d", uint32(c))
}

// Error returns the name of the code.
func (c Code) Error() string { return c.String() }

// The codes of errors, for errors.Is. docs/protocol.md describes each.
const (
	CodeMalformedFrame       Code = 100
	CodeFrameTooLong         Code = 101
	CodeHandshakeRequired    Code = 102
	CodeUnsupportedVersion   Code = 103
	CodeUnknownMessage       Code = 104
	CodeMalformedMessage     Code = 105
	CodeMalformedIdentifier  Code = 200
	CodeForeignIdentifier    Code = 201
	CodeUnknownEntity        Code = 202
	CodeObjectNotFound       Code = 203
	CodeMalformedToken       Code = 204
	CodeForeignToken         Code = 205
	CodeFutureToken          Code = 206
	CodeTokenExpired         Code = 207
	CodeUnknownProperty      Code = 300
	CodeWrongType            Code = 301
	CodeMalformedPredicate   Code = 302
	CodeUnsupported          Code = 303
	CodeMissingValue         Code = 304
	CodeValidationFailed     Code = 305
	CodeUniquenessViolated   Code = 306
	CodeDeleteDenied         Code = 307
	CodeInvalidChangeSet     Code = 308
	CodeArithmeticOverflow   Code = 309
	CodeMalformedSchema      Code = 310
	CodeSchemaMismatch       Code = 311
	CodeMalformedValue       Code = 312
	CodeUnsupportedPredicate Code = 313
	CodeIdempotencyMismatch  Code = 314
	CodeMigrationRefused     Code = 315
	CodeVersionConflict      Code = 400
	CodeConditionFailed      Code = 401
	CodeResourceExhausted    Code = 500
	CodeReadOnly             Code = 501
	CodePermissionDenied     Code = 502
	CodeTimeout              Code = 600
	CodeUnavailable          Code = 601
	CodeCancelled            Code = 602
	CodeSnapshotExpired      Code = 603
	CodeConnectionFailed     Code = 700
	CodeIndeterminate        Code = 701
	CodeStorageFailed        Code = 800
	CodeStorageFull          Code = 801
	CodeStoreInUse           Code = 802
	CodeNotAStore            Code = 803
	CodeStoreTooNew          Code = 804
	CodeFileExists           Code = 805
)
