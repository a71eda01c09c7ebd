package cli_test

import (
	"context"
	"net"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/namespace/v1"
	"go.temporal.io/api/operatorservice/v1"
	"go.temporal.io/api/workflowservice/v1"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/durationpb"
)

// fakeTemporal is a server that answers about its namespace, and refuses or does
// not know everything else, as one with few permissions does.
type fakeTemporal struct {
	workflowservice.UnimplementedWorkflowServiceServer
	operatorservice.UnimplementedOperatorServiceServer

	retention  time.Duration
	attributes map[string]enumspb.IndexedValueType
	refusal    error // of questions about the namespace
	denied     bool  // changes
}

// DescribeNamespace answers with the retention.
func (f *fakeTemporal) DescribeNamespace(context.Context, *workflowservice.DescribeNamespaceRequest) (*workflowservice.DescribeNamespaceResponse, error) {
	return &workflowservice.DescribeNamespaceResponse{
		Config: &namespace.NamespaceConfig{WorkflowExecutionRetentionTtl: durationpb.New(f.retention)},
	}, f.refusal
}

// UpdateNamespace is for those who may.
func (f *fakeTemporal) UpdateNamespace(context.Context, *workflowservice.UpdateNamespaceRequest) (*workflowservice.UpdateNamespaceResponse, error) {
	if f.denied {
		return nil, status.Error(codes.PermissionDenied, "Request unauthorized.")
	}
	return &workflowservice.UpdateNamespaceResponse{}, nil
}

// ListSearchAttributes lists them.
func (f *fakeTemporal) ListSearchAttributes(context.Context, *operatorservice.ListSearchAttributesRequest) (*operatorservice.ListSearchAttributesResponse, error) {
	return &operatorservice.ListSearchAttributesResponse{CustomAttributes: f.attributes}, nil
}

// start serves until the test ends and returns the address.
func (f *fakeTemporal) start(t *testing.T, options ...grpc.ServerOption) string {
	t.Helper()
	return serve(t, f, options...)
}

// service is a Temporal, as far as the command line asks it.
type service interface {
	workflowservice.WorkflowServiceServer
	operatorservice.OperatorServiceServer
}

func serve(t *testing.T, s service, options ...grpc.ServerOption) string {
	t.Helper()
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	server := grpc.NewServer(options...)
	workflowservice.RegisterWorkflowServiceServer(server, s)
	operatorservice.RegisterOperatorServiceServer(server, s)
	go server.Serve(listener) //nolint:errcheck // ends with Stop
	t.Cleanup(server.Stop)
	return listener.Addr().String()
}

// registered are our attributes, as they should be.
func registered() map[string]enumspb.IndexedValueType {
	return map[string]enumspb.IndexedValueType{
		"TgChat":    enumspb.INDEXED_VALUE_TYPE_KEYWORD,
		"TgKind":    enumspb.INDEXED_VALUE_TYPE_KEYWORD,
		"TgOutcome": enumspb.INDEXED_VALUE_TYPE_KEYWORD,
	}
}
