package larder

import (
	"context"
	"errors"
	"fmt"
	"strings"

	pb "larder/v1"
)

var (
	// ErrDisconnected is the error of requests without a reply when the server ends the connection.
	ErrDisconnected = errors.New("the server closed the connection")
	// ErrClosed is the error of requests after Close.
	ErrClosed = errors.New("the client is closed")
)

var errNoKey = errors.New("a set without an idempotency key cannot be sent again")

// Error is the reply `failed`, or an error that the client finds.
type Error struct {
	Code          pb.ErrorCode
	Message, Hint string
	// Reply has everything that the server sent; nil for an error that the client finds.
	Reply *pb.ErrorReply
}

func (e *Error) Error() string {
	return fmt.Sprintf(
		"error[%s]: %s", strings.TrimPrefix(e.Code.String(), "ERROR_CODE_"), e.Message)
}

// IsTemporary reports whether the same request may succeed later: after a broken connection,
// TIMEOUT or UNAVAILABLE.
func IsTemporary(err error) bool {
	var reply *Error
	if errors.As(err, &reply) {
		return reply.Code == pb.ErrorCode_ERROR_CODE_TIMEOUT ||
			reply.Code == pb.ErrorCode_ERROR_CODE_UNAVAILABLE
	}
	for _, final := range []error{ErrClosed, context.Canceled, context.DeadlineExceeded} {
		if errors.Is(err, final) {
			return false
		}
	}
	return true
}

func replied(failed *pb.ErrorReply) *Error {
	return &Error{
		Code: pb.ErrorCode(failed.Code), Message: failed.Message, Hint: failed.Hint, Reply: failed,
	}
}

// body returns the body of a reply, or the error of `failed`.
func body[Body any](envelope *pb.Envelope, found *Body) (*Body, error) {
	if failed := envelope.GetFailed(); failed != nil {
		return nil, replied(failed)
	}
	if found == nil {
		return nil, violation("the server replied with another message")
	}
	return found, nil
}

func violation(message string) *Error {
	return &Error{Code: pb.ErrorCode_ERROR_CODE_MALFORMED_MESSAGE, Message: message}
}

func tooLong(what string, length, bytesMax int) *Error {
	return &Error{
		Code:    pb.ErrorCode_ERROR_CODE_FRAME_TOO_LONG,
		Message: fmt.Sprintf("%s %d bytes; at most %d are allowed", what, length, bytesMax),
	}
}
