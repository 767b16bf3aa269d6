package larder

import (
	"bufio"
	"context"
	"encoding/binary"
	"io"
	"net"
	"sync"
	"time"

	pb "larder/internal/larderv1"

	"google.golang.org/protobuf/proto"
)

const (
	lengthBytes = 4
	// The longest frame of either side before the end of the handshake.
	handshakeBytesMax = 64 << 10
	// The longest frame of the server after it.
	replyBytesMax = 16 << 20
	// The time for the rest of a frame of which something has arrived.
	frameTimeout = 30 * time.Second
	// The requests in flight for which a server may ask.
	slotsMax = 1 << 16
)

// link is one connection. A goroutine reads its replies and passes each to the request with its id;
// another one writes, so that a server that does not read makes no request wait beyond its context.
type link struct {
	conn            net.Conn
	reader          *bufio.Reader
	welcome         *pb.WelcomeReply
	store           UUID
	requestBytesMax int
	outgoing        chan []byte
	// Holds an element for each request in flight. Beyond the server's maximum it would not read
	// `credit` and `cancel` either.
	slots chan struct{}
	// The time for the last reply to a request that was cancelled.
	cancelTimeout time.Duration
	// Closed when the connection has ended; then failure is set.
	done chan struct{}

	mutex   sync.Mutex
	failure *Error
	lastID  uint64
	// The replies to each request: at most those of its window, and the error that ends it.
	waiting map[uint64]chan *pb.Envelope
}

// open connects and performs the handshake.
func open(ctx context.Context, path string, hello *pb.Hello) (*link, *Error) {
	var dialer net.Dialer
	conn, err := dialer.DialContext(ctx, "unix", path)
	if err != nil {
		if ctx.Err() != nil {
			return nil, endOf(ctx)
		}
		return nil, connectionError(err)
	}
	l := &link{
		conn: conn, reader: bufio.NewReaderSize(conn, handshakeBytesMax), lastID: 1,
		outgoing: make(chan []byte), done: make(chan struct{}),
		waiting: map[uint64]chan *pb.Envelope{}, requestBytesMax: handshakeBytesMax,
		cancelTimeout: cancelTimeout,
	}
	// The end of the context ends a handshake that waits.
	finished, exited := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(exited)
		select {
		case <-ctx.Done():
			conn.Close()
		case <-finished:
		}
	}()
	failure := l.handshake(hello)
	close(finished)
	<-exited
	if ctx.Err() != nil {
		failure = endOf(ctx)
	}
	if failure != nil {
		conn.Close()
		return nil, failure
	}
	go l.read()
	go l.write()
	return l, nil
}

func (l *link) handshake(hello *pb.Hello) *Error {
	frame, failure := l.frame(&pb.Envelope{Id: 1, Body: &pb.Envelope_Hello{Hello: hello}})
	if failure != nil {
		return failure
	}
	if _, err := l.conn.Write(frame); err != nil {
		return connectionError(err)
	}
	reply, failure := l.receive(handshakeBytesMax)
	if failure != nil {
		return failure
	}
	if failed := reply.GetFailed(); failed != nil {
		return replied(failed)
	}
	welcome := reply.GetWelcome()
	switch {
	case welcome == nil:
		return otherReply()
	case welcome.ProtocolVersion != hello.ProtocolVersion:
		return newError(CodeUnsupportedVersion,
			"the server chose version %d of the protocol", welcome.ProtocolVersion)
	case len(welcome.Store) != len(l.store):
		return violation("the server sent a store without a UUID")
	}
	copy(l.store[:], welcome.Store)
	l.welcome, l.requestBytesMax = welcome, int(welcome.FrameBytesMax)
	slots := int64(welcome.RequestsInFlightMax) - 1
	if slots < 1 {
		slots = 1
	} else if slots > slotsMax {
		slots = slotsMax
	}
	l.slots = make(chan struct{}, slots)
	return nil
}

// fail ends the connection. The first error is that of all requests without a reply.
func (l *link) fail(err *Error) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	if l.failure == nil {
		l.failure = err
		close(l.done)
		l.conn.Close()
	}
}

func (l *link) failed() *Error {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	return l.failure
}

// frame returns the frame of a request.
func (l *link) frame(envelope *pb.Envelope) ([]byte, *Error) {
	length := proto.Size(envelope)
	if length > l.requestBytesMax {
		return nil, tooLong("the request has", length, l.requestBytesMax)
	}
	frame := binary.BigEndian.AppendUint32(make([]byte, 0, lengthBytes+length), uint32(length))
	frame, err := proto.MarshalOptions{UseCachedSize: true}.MarshalAppend(frame, envelope)
	if err != nil {
		return nil, &Error{Code: CodeMalformedValue, Message: err.Error(), cause: err}
	}
	return frame, nil
}

func tooLong(what string, length, bytesMax int) *Error {
	return newError(CodeFrameTooLong,
		"%s %d bytes; at most %d are allowed", what, length, bytesMax)
}

// receive returns the next frame's message. Its length is checked before memory is allocated.
func (l *link) receive(bytesMax int) (*pb.Envelope, *Error) {
	if _, err := l.reader.Peek(1); err != nil {
		return nil, connectionError(err)
	}
	if err := l.conn.SetReadDeadline(time.Now().Add(frameTimeout)); err != nil {
		return nil, connectionError(err)
	}
	header := make([]byte, lengthBytes)
	if _, err := io.ReadFull(l.reader, header); err != nil {
		return nil, connectionError(err)
	}
	length := binary.BigEndian.Uint32(header)
	if int64(length) > int64(bytesMax) {
		return nil, tooLong("the server sent a frame of", int(length), bytesMax)
	}
	content := make([]byte, length)
	if _, err := io.ReadFull(l.reader, content); err != nil {
		return nil, connectionError(err)
	}
	if err := l.conn.SetReadDeadline(time.Time{}); err != nil {
		return nil, connectionError(err)
	}
	envelope := &pb.Envelope{}
	if err := proto.Unmarshal(content, envelope); err != nil {
		return nil, newError(CodeMalformedFrame, "the server sent a frame that is not an envelope")
	}
	if envelope.Body == nil {
		return nil, newError(
			CodeUnknownMessage, "the server sent a message that is not a known reply")
	}
	return envelope, nil
}

func (l *link) read() {
	for {
		envelope, err := l.receive(replyBytesMax)
		if err != nil {
			l.fail(err)
			return
		}
		if failed := envelope.GetFailed(); envelope.Id == 0 && failed != nil {
			err := replied(failed)
			err.isReply = false
			l.fail(err)
			return
		}
		l.mutex.Lock()
		replies := l.waiting[envelope.Id]
		l.mutex.Unlock()
		select {
		case replies <- envelope:
		default:
			// There is no such request, or it has had all replies of its window.
			l.fail(violation("the server replied to another request"))
			return
		}
	}
}

func (l *link) write() {
	for {
		select {
		case frame := <-l.outgoing:
			if _, err := l.conn.Write(frame); err != nil {
				// A server that ends the connection may have said why.
				select {
				case <-l.done:
				case <-time.After(closingTimeout):
				}
				l.fail(connectionError(err))
				return
			}
		case <-l.done:
			return
		}
	}
}

// closingTimeout is the time in which the last error of a closed connection is read.
const closingTimeout = time.Second

// send passes a request to the goroutine that writes.
func (l *link) send(ctx context.Context, envelope *pb.Envelope) *Error {
	frame, err := l.frame(envelope)
	if err != nil {
		return unsent(err)
	}
	select {
	case <-l.done:
		return unsent(l.failed())
	default:
	}
	select {
	case l.outgoing <- frame:
		return nil
	case <-l.done:
		return unsent(l.failed())
	case <-ctx.Done():
		return unsent(endOf(ctx))
	}
}
