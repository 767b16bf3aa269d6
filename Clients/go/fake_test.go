package larder

import (
	"context"
	"encoding/binary"
	"io"
	"net"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	pb "larder/internal/larderv1"

	"google.golang.org/protobuf/proto"
)

// fakeServer is a server whose replies a test decides.
type fakeServer struct {
	t        *testing.T
	listener net.Listener
	// Replies to a request other than hello. It runs in the goroutine of its connection.
	reply func(*fakeConnection, *pb.Envelope)

	mutex sync.Mutex
	// The reply to hello.
	welcome  *pb.Envelope
	requests []*pb.Envelope
}

type fakeConnection struct {
	net.Conn
	server *fakeServer
	// The number of the connection, from 1.
	number int
}

func welcomeReply() *pb.Envelope {
	return &pb.Envelope{Id: 1, Body: &pb.Envelope_Welcome{Welcome: &pb.WelcomeReply{
		ProtocolVersion: 1, Store: testStore[:], FrameBytesMax: 1 << 20, RequestsInFlightMax: 4,
	}}}
}

func newFake(t *testing.T, reply func(*fakeConnection, *pb.Envelope)) *fakeServer {
	t.Helper()
	folder, err := os.MkdirTemp("", "larder")
	must(t, err)
	listener, err := net.Listen("unix", filepath.Join(folder, "s.sock"))
	must(t, err)
	t.Cleanup(func() {
		listener.Close()
		os.RemoveAll(folder)
	})
	server := &fakeServer{t: t, listener: listener, reply: reply, welcome: welcomeReply()}
	go func() {
		for number := 1; ; number++ {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go server.serve(&fakeConnection{conn, server, number})
		}
	}()
	return server
}

func (s *fakeServer) path() string { return s.listener.Addr().String() }

func (s *fakeServer) serve(c *fakeConnection) {
	defer c.Close()
	for {
		header := make([]byte, lengthBytes)
		if _, err := io.ReadFull(c, header); err != nil {
			return
		}
		content := make([]byte, binary.BigEndian.Uint32(header))
		if _, err := io.ReadFull(c, content); err != nil {
			return
		}
		request := &pb.Envelope{}
		if !unmarshalled(content, request) {
			s.t.Error("a request is not an envelope")
			return
		}
		if request.GetHello() != nil {
			s.mutex.Lock()
			welcome := s.welcome
			s.mutex.Unlock()
			c.send(welcome)
			continue
		}
		s.mutex.Lock()
		s.requests = append(s.requests, request)
		s.mutex.Unlock()
		s.reply(c, request)
	}
}

// count returns how many requests a test selects.
func (s *fakeServer) count(selects func(*pb.Envelope) bool) (count int) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	for _, request := range s.requests {
		if selects(request) {
			count++
		}
	}
	return count
}

func (c *fakeConnection) send(envelope *pb.Envelope) {
	content, err := proto.Marshal(envelope)
	if err != nil {
		c.server.t.Error(err)
	}
	c.Write(append(binary.BigEndian.AppendUint32(nil, uint32(len(content))), content...))
}

func (c *fakeConnection) fail(id uint64, code Code) {
	failed := &pb.ErrorReply{Code: uint32(code), Message: "failed"}
	c.send(&pb.Envelope{Id: id, Body: &pb.Envelope_Failed{Failed: failed}})
}

func (c *fakeConnection) batches(id uint64, more bool, batches ...*pb.Batch) {
	reply := &pb.BatchesReply{Batches: batches, More: more}
	c.send(&pb.Envelope{Id: id, Body: &pb.Envelope_Batches{Batches: reply}})
}

func (c *fakeConnection) observed(id uint64, reply *pb.ObserveReply) {
	reply.More = true
	reply.Position = &pb.HistoryToken{Store: testStore[:], Epoch: 1, Number: 1}
	c.send(&pb.Envelope{Id: id, Body: &pb.Envelope_Observed{Observed: reply}})
}

// batchOf returns objects with keys.
func batchOf(keys ...int64) *pb.Batch {
	identity := &pb.Identity{Entity: "Person", Keys: keys, Versions: make([]int64, len(keys))}
	return &pb.Batch{RowCount: uint32(len(keys)), Identity: identity}
}

// connectTo returns a client of a fake server, and a context of some seconds.
func connectTo(t *testing.T, s *fakeServer, options Options) (context.Context, *Client) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	client, err := Connect(ctx, s.path(), options)
	must(t, err)
	t.Cleanup(func() {
		client.Close()
		cancel()
	})
	return ctx, client
}
