package larder

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"

	pb "larder/internal/larderv1"
)

// Error is the only type of error that this package returns. It is a reply of the server, or an
// error that the client finds.
//
// errors.Is(err, ErrConflict) tests for a kind, errors.Is(err, CodeUniquenessViolated) for a code,
// and errors.Is(err, context.Canceled) whether a context ended the call.
type Error struct {
	// Code is the stable number of the error.
	Code Code
	// Message is a sentence that describes the error.
	Message string
	// Hint is a sentence that says what to do; empty if there is no hint.
	Hint string
	// Column is the column of an error in a format string, in characters from 1; otherwise 0.
	Column int
	// URI identifies the object concerned; empty if there is none.
	URI string
	// Problems has the message of each error if several were found at once.
	Problems []string
	// Violations has the errors of a change set as fields; at most 100.
	Violations []Violation

	cause error
	// Whether the server sent it as the reply to the request.
	isReply bool
	// Whether the request was certainly not sent.
	isUnsent bool
}

// Violation is one error of a change set. Strings that do not apply are empty.
type Violation struct {
	Code    Code
	Message string
	// Change is the index of the change in the set, or of the row in an insertion, and Condition
	// that of the condition in the set; -1 if the error is not in one.
	Change, Condition int
	// Entity and Properties name the property concerned, or those of a constraint.
	Entity     string
	Properties []string
	// URI identifies the object that has to change, or that causes the error.
	URI string
	// Rule is the rule that was violated, such as `maxLength`, `unique` or `version`.
	Rule string
	// StoredVersion is the object's version in the store, in a version conflict; otherwise 0.
	StoredVersion int64
	// Found is the number of objects that match a condition, in CONDITION_FAILED.
	Found int64
}

// Error returns the name of the code and the message.
func (e *Error) Error() string { return fmt.Sprintf("error[%s]: %s", e.Code, e.Message) }

// Name returns the name of the code, such as `UNIQUENESS_VIOLATED`.
func (e *Error) Name() string { return e.Code.String() }

// Is reports whether the target is the code of the error or its kind.
func (e *Error) Is(target error) bool {
	switch target := target.(type) {
	case Code:
		return target == e.Code
	case Kind:
		return target == e.Code.Kind()
	}
	return false
}

// Unwrap returns the cause: an error of a context, of the connection, or nil.
func (e *Error) Unwrap() error { return e.cause }

func newError(code Code, format string, arguments ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, arguments...)}
}

// violation is the error of a reply that the protocol does not allow.
func violation(message string) *Error { return newError(CodeMalformedMessage, "%s", message) }

func contradiction() *Error {
	return violation("the server sent columns that contradict each other")
}

func otherReply() *Error { return violation("the server replied with another message") }

// errClosed is the cause of errors after Close.
var errClosed = fmt.Errorf("the client is closed: %w", net.ErrClosed)

func closedError() *Error {
	return &Error{
		Code: CodeConnectionFailed, Message: "the client is closed", cause: errClosed,
	}
}

// connectionError is the error of a lost connection, or of one that cannot be made.
func connectionError(err error) *Error {
	if failed := (*Error)(nil); errors.As(err, &failed) {
		return failed
	}
	message := err.Error()
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		message = "the server closed the connection"
	}
	return &Error{Code: CodeConnectionFailed, Message: message, cause: err}
}

// endOf is the error of a call that its context has ended.
func endOf(ctx context.Context) *Error {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return &Error{
			Code: CodeTimeout, Message: "the server did not reply in time", cause: ctx.Err(),
			Hint: "request less at once, or allow more time",
		}
	}
	return &Error{Code: CodeCancelled, Message: "the call was cancelled", cause: ctx.Err()}
}

// endAfter is the error of a call whose context has ended while it waited for a new connection.
func endAfter(ctx context.Context, loss *Error) *Error {
	err := endOf(ctx)
	err.Message = loss.Message + "; " + err.Message
	return unsent(err)
}

// isLost reports whether the call may succeed over a new connection.
func (e *Error) isLost() bool {
	return e.cause != errClosed &&
		(e.Code == CodeConnectionFailed || e.Code == CodeUnavailable)
}

// mayHaveRun reports whether the server may have executed the request. An error from the reply to
// it, or UNAVAILABLE, says that it did not.
func (e *Error) mayHaveRun() bool {
	return !e.isUnsent && !e.isReply && e.Code != CodeUnavailable
}

// unsent returns the error of a request that was not sent.
func unsent(err *Error) *Error {
	copied := *err
	copied.isUnsent = true
	return &copied
}

func replied(failed *pb.ErrorReply) *Error {
	err := &Error{
		Code: Code(failed.Code), Message: failed.Message, Hint: failed.Hint,
		Column: int(failed.Column), URI: failed.Uri, Problems: failed.Problems, isReply: true,
	}
	if err.Code == CodeTimeout {
		err.cause = context.DeadlineExceeded
	}
	for _, detail := range failed.Details {
		found := Violation{
			Code: Code(detail.Code), Message: detail.Message, Change: -1, Condition: -1,
			Entity: detail.Entity, Properties: detail.Properties, URI: detail.Uri,
			Rule: detail.Rule, StoredVersion: detail.GetConflict().GetStoredVersion(),
			Found: detail.GetFound(),
		}
		if detail.ChangePresence != nil {
			found.Change = int(detail.GetChange())
		}
		if detail.ConditionPresence != nil {
			found.Condition = int(detail.GetCondition())
		}
		err.Violations = append(err.Violations, found)
	}
	return err
}

// indeterminate is the error of a write whose outcome is not known.
func indeterminate(err *Error, hasKey bool) *Error {
	hint := "read the objects again before you repeat the write"
	if hasKey {
		hint = "save the same change set with the same idempotency key again"
	}
	message := err.Message + "; the write may or may not have been executed"
	return &Error{Code: CodeIndeterminate, Message: message, Hint: hint, cause: err.cause}
}
