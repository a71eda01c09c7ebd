package e2e_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/api/workflowservice/v1"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/encoding"
	"google.golang.org/grpc/mem"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/durabot/durabot/internal/contract"
)

// gateway stands between a bot and Temporal and lets a test decide, for every
// start of an update's workflow, what happens before and after it.
type gateway struct {
	// before runs when a start arrives; an error is answered instead of asking Temporal.
	before func(workflowID string) error
	// after runs when Temporal has answered a start and the bot does not know yet.
	after func(workflowID string)
	// refuses is what every question is answered with, codes.OK for nothing.
	refuses atomic.Uint32
	// delays is how long each question waits, in nanoseconds, before it is asked.
	delays atomic.Int64

	backend *grpc.ClientConn
}

const startMethod = "/temporal.api.workflowservice.v1.WorkflowService/StartWorkflowExecution"

// listen serves the gateway and returns its address.
func (g *gateway) listen(t *testing.T) string {
	t.Helper()
	var err error
	g.backend, err = grpc.NewClient(shared.temporal.Addr(), grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithDefaultCallOptions(grpc.ForceCodecV2(frames{}), grpc.MaxCallRecvMsgSize(64<<20)))
	require.NoError(t, err)
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	server := grpc.NewServer(grpc.ForceServerCodecV2(frames{}), grpc.UnknownServiceHandler(g.forward), grpc.MaxRecvMsgSize(64<<20))
	go server.Serve(listener) //nolint:errcheck // ends with Stop
	t.Cleanup(func() {
		server.Stop()
		_ = g.backend.Close()
	})
	return listener.Addr().String()
}

// forward passes one unary call on, bytes as they are.
func (g *gateway) forward(_ any, stream grpc.ServerStream) error {
	method, _ := grpc.MethodFromServerStream(stream)
	if code := codes.Code(g.refuses.Load()); code != codes.OK {
		return status.Error(code, "told to refuse")
	}
	select {
	case <-time.After(time.Duration(g.delays.Load())):
	case <-stream.Context().Done():
		return stream.Context().Err()
	}
	var request, response frame
	if err := stream.RecvMsg(&request); err != nil {
		return err
	}
	id := ""
	if method == startMethod {
		id = updateWorkflow(request)
	}
	if id != "" && g.before != nil {
		if err := g.before(id); err != nil {
			return err
		}
	}
	if err := g.invoke(stream.Context(), method, request, &response); err != nil {
		return err
	}
	if id != "" && g.after != nil {
		g.after(id)
	}
	return stream.SendMsg(&response)
}

func (g *gateway) invoke(ctx context.Context, method string, request frame, response *frame) error {
	if md, ok := metadata.FromIncomingContext(ctx); ok {
		ctx = metadata.NewOutgoingContext(ctx, md)
	}
	return g.backend.Invoke(ctx, method, &request, response)
}

// updateWorkflow is the ID of the update's workflow that a request starts, "" when
// it starts another one.
func updateWorkflow(request frame) string {
	var start workflowservice.StartWorkflowExecutionRequest
	if proto.Unmarshal(request, &start) != nil {
		return ""
	}
	if _, ok := contract.UpdateOf(start.GetWorkflowId()); !ok {
		return ""
	}
	return start.GetWorkflowId()
}

// frame is a message that nobody decoded.
type frame []byte

type frames struct{}

var _ encoding.CodecV2 = frames{}

func (frames) Name() string { return "proto" }

func (frames) Marshal(v any) (mem.BufferSlice, error) {
	f, ok := v.(*frame)
	if !ok {
		return nil, fmt.Errorf("gateway: marshal %T", v)
	}
	return mem.BufferSlice{mem.SliceBuffer(*f)}, nil
}

func (frames) Unmarshal(data mem.BufferSlice, v any) error {
	f, ok := v.(*frame)
	if !ok {
		return fmt.Errorf("gateway: unmarshal %T", v)
	}
	all, err := io.ReadAll(data.Reader())
	*f = all
	return err
}
