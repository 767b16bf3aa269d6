package larder

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"sync"
	"time"

	pb "larder/v1"

	"google.golang.org/protobuf/proto"
)

const (
	lengthBytes = 4
	// The longest frame of either side before the end of the handshake.
	handshakeBytesMax = 64 << 10
	// The longest frame of the server after it.
	replyBytesMax = 16 << 20
)

// link is one connection. A goroutine reads its replies and passes each to the request with its id;
// another one writes, so that a server that does not read makes no request wait beyond its context.
type link struct {
	conn            net.Conn
	welcome         *pb.WelcomeReply
	requestBytesMax int
	outgoing        chan []byte
	// Holds an element for each request in flight. Beyond the server's maximum it would not read
	// `credit` and `cancel` either.
	slots chan struct{}
	// Closed when the connection has ended; then failure is set.
	done chan struct{}

	mutex   sync.Mutex
	failure error
	lastID  uint64
	// The replies to each request: at most those of its credit, and the error that ends it.
	waiting map[uint64]chan *pb.Envelope
}

func open(ctx context.Context, path, name string) (*link, error) {
	ctx, cancel := context.WithTimeout(ctx, handshakeTimeout)
	defer cancel()
	var dialer net.Dialer
	conn, err := dialer.DialContext(ctx, "unix", path)
	if err != nil {
		return nil, err
	}
	l := &link{
		conn: conn, lastID: 1, outgoing: make(chan []byte), done: make(chan struct{}),
		waiting: map[uint64]chan *pb.Envelope{}, requestBytesMax: handshakeBytesMax,
	}
	if err := l.handshake(ctx, name); err != nil {
		conn.Close()
		return nil, err
	}
	go l.read()
	go l.write()
	return l, nil
}

func (l *link) handshake(ctx context.Context, name string) error {
	deadline, _ := ctx.Deadline()
	if err := l.conn.SetDeadline(deadline); err != nil {
		return err
	}
	hello := &pb.Hello{ProtocolVersion: 1, ClientName: name}
	frame, err := l.frame(&pb.Envelope{Id: 1, Body: &pb.Envelope_Hello{Hello: hello}})
	if err != nil {
		return err
	}
	if _, err := l.conn.Write(frame); err != nil {
		return err
	}
	reply, err := l.receive(handshakeBytesMax)
	if err != nil {
		return err
	}
	if l.welcome, err = body(reply, reply.GetWelcome()); err != nil {
		return err
	}
	l.requestBytesMax = int(l.welcome.FrameBytesMax)
	slots := int(l.welcome.RequestsInFlightMax) - 1
	if slots < 1 {
		slots = 1
	}
	l.slots = make(chan struct{}, slots)
	return l.conn.SetDeadline(time.Time{})
}

// fail ends the connection. The first error is that of all requests without a reply.
func (l *link) fail(err error) error {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	if l.failure != nil {
		return nil
	}
	l.failure = err
	close(l.done)
	return l.conn.Close()
}

func (l *link) failed() error {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	return l.failure
}

// frame returns the frame of a request.
func (l *link) frame(envelope *pb.Envelope) ([]byte, error) {
	length := proto.Size(envelope)
	if length > l.requestBytesMax {
		return nil, tooLong("the request has", length, l.requestBytesMax)
	}
	frame := binary.BigEndian.AppendUint32(make([]byte, 0, lengthBytes+length), uint32(length))
	return proto.MarshalOptions{UseCachedSize: true}.MarshalAppend(frame, envelope)
}

// receive returns the next frame's message. Its length is checked before memory is allocated.
func (l *link) receive(bytesMax int) (*pb.Envelope, error) {
	header := make([]byte, lengthBytes)
	if _, err := io.ReadFull(l.conn, header); err != nil {
		return nil, ended(err)
	}
	length := binary.BigEndian.Uint32(header)
	if int64(length) > int64(bytesMax) {
		return nil, tooLong("the server sent a frame of", int(length), bytesMax)
	}
	content := make([]byte, length)
	if _, err := io.ReadFull(l.conn, content); err != nil {
		return nil, ended(err)
	}
	envelope := &pb.Envelope{}
	if err := proto.Unmarshal(content, envelope); err != nil {
		return nil, &Error{
			Code:    pb.ErrorCode_ERROR_CODE_MALFORMED_FRAME,
			Message: "the server sent a frame that is not an envelope",
		}
	}
	if envelope.Body == nil {
		return nil, &Error{
			Code:    pb.ErrorCode_ERROR_CODE_UNKNOWN_MESSAGE,
			Message: "the server sent a message that is not a known reply",
		}
	}
	return envelope, nil
}

func ended(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return ErrDisconnected
	}
	return err
}

func (l *link) read() {
	for {
		envelope, err := l.receive(replyBytesMax)
		if err != nil {
			l.fail(err)
			return
		}
		if failed := envelope.GetFailed(); envelope.Id == 0 && failed != nil {
			l.fail(replied(failed))
			return
		}
		l.mutex.Lock()
		replies := l.waiting[envelope.Id]
		l.mutex.Unlock()
		select {
		case replies <- envelope:
		default:
			// There is no such request, or it has had all replies for which it gave credit.
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
				l.fail(err)
				return
			}
		case <-l.done:
			return
		}
	}
}

// send passes a request to the goroutine that writes.
func (l *link) send(ctx context.Context, envelope *pb.Envelope) error {
	frame, err := l.frame(envelope)
	if err != nil {
		return err
	}
	select {
	case l.outgoing <- frame:
		return nil
	case <-l.done:
		return l.failed()
	case <-ctx.Done():
		return ctx.Err()
	}
}

// exchange sends a request, and calls a function with each of its replies, which returns whether
// there are more. Without credit there is one reply.
func (l *link) exchange(
	ctx context.Context, request *pb.Envelope, credit int, each func(*pb.Envelope) (bool, error),
) error {
	if deadline, exists := ctx.Deadline(); exists {
		left := time.Until(deadline).Milliseconds()
		if left <= 0 {
			return context.DeadlineExceeded
		}
		if left < 1<<31 {
			request.TimeoutMilliseconds = uint32(left)
		}
	}
	slots := l.slots
	if history := request.GetHistory(); history.GetFollow() {
		// It does not count, and has a slot of its own.
		slots = make(chan struct{}, 1)
	}
	select {
	case slots <- struct{}{}:
	case <-l.done:
		return l.failed()
	case <-ctx.Done():
		return ctx.Err()
	}
	replies := make(chan *pb.Envelope, credit+1)
	l.mutex.Lock()
	l.lastID++
	request.Id = l.lastID
	l.waiting[request.Id] = replies
	l.mutex.Unlock()
	finish := func() {
		l.mutex.Lock()
		delete(l.waiting, request.Id)
		l.mutex.Unlock()
		<-slots
	}
	if err := l.send(ctx, request); err != nil {
		finish()
		return err
	}
	for {
		more, err := l.next(ctx, request.Id, replies, each)
		if err != nil && more {
			// The replies that are on their way still have the id.
			go func() {
				l.cancel(request.Id, replies)
				finish()
			}()
			return err
		}
		if err != nil || !more {
			finish()
			return err
		}
	}
}

// next waits for a reply, and allows another one. Returns whether the stream is still open.
func (l *link) next(
	ctx context.Context, id uint64, replies <-chan *pb.Envelope,
	each func(*pb.Envelope) (bool, error),
) (bool, error) {
	var reply *pb.Envelope
	select {
	case reply = <-replies:
	case <-ctx.Done():
		return true, ctx.Err()
	case <-l.done:
		select {
		case reply = <-replies:
		default:
			return false, l.failed()
		}
	}
	more, err := each(reply)
	if err != nil || !more {
		return more, err
	}
	credit := &pb.CreditRequest{RequestId: id, Batches: 1}
	return true, l.send(ctx, &pb.Envelope{Id: id, Body: &pb.Envelope_Credit{Credit: credit}})
}

// cancel ends a stream, and reads the replies that are on their way.
func (l *link) cancel(id uint64, replies <-chan *pb.Envelope) {
	cancel := &pb.Envelope{
		Id: id, Body: &pb.Envelope_Cancel{Cancel: &pb.CancelRequest{RequestId: id}},
	}
	if l.send(context.Background(), cancel) != nil {
		return
	}
	for {
		select {
		case reply := <-replies:
			if !reply.GetBatches().GetMore() && !reply.GetTransactions().GetMore() {
				return
			}
		case <-l.done:
			return
		}
	}
}
