package devserver

import (
	"context"
	"maps"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/namespace/v1"
	"go.temporal.io/api/operatorservice/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflowservice/v1"
	"google.golang.org/grpc"
	"google.golang.org/grpc/health"
	"google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/protobuf/types/known/durationpb"
)

// frontend is a Temporal frontend with one namespace, as far as a start needs
// one. Its parts become ready only after some questions, like the real ones.
type frontend struct {
	workflowservice.UnimplementedWorkflowServiceServer
	operatorservice.UnimplementedOperatorServiceServer

	mu         sync.Mutex
	retention  time.Duration
	attributes map[string]enums.IndexedValueType
	unready    int // so many questions about the namespace are refused
	updates    int
	queries    []string
}

// serve makes f listen and returns its port.
func (f *frontend) serve(t *testing.T) int {
	t.Helper()
	var config net.ListenConfig
	listener, err := config.Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	server := grpc.NewServer()
	workflowservice.RegisterWorkflowServiceServer(server, f)
	operatorservice.RegisterOperatorServiceServer(server, f)
	healthy := health.NewServer()
	healthy.SetServingStatus("temporal.api.workflowservice.v1.WorkflowService", grpc_health_v1.HealthCheckResponse_SERVING)
	grpc_health_v1.RegisterHealthServer(server, healthy)
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	t.Cleanup(func() {
		server.Stop()
		require.NoError(t, <-served)
	})
	return listener.Addr().(*net.TCPAddr).Port
}

// GetSystemInfo lets the client finish its handshake.
func (f *frontend) GetSystemInfo(context.Context, *workflowservice.GetSystemInfoRequest) (*workflowservice.GetSystemInfoResponse, error) {
	return &workflowservice.GetSystemInfoResponse{ServerVersion: "1.29.1"}, nil
}

// DescribeNamespace refuses while the namespace is not there yet.
func (f *frontend) DescribeNamespace(context.Context, *workflowservice.DescribeNamespaceRequest) (*workflowservice.DescribeNamespaceResponse, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.unready > 0 {
		f.unready--
		return nil, serviceerror.NewNamespaceNotFound("default")
	}
	return &workflowservice.DescribeNamespaceResponse{
		Config: &namespace.NamespaceConfig{WorkflowExecutionRetentionTtl: durationpb.New(f.retention)},
	}, nil
}

// UpdateNamespace sets the retention.
func (f *frontend) UpdateNamespace(_ context.Context, r *workflowservice.UpdateNamespaceRequest) (*workflowservice.UpdateNamespaceResponse, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.updates++
	f.retention = r.GetConfig().GetWorkflowExecutionRetentionTtl().AsDuration()
	return &workflowservice.UpdateNamespaceResponse{}, nil
}

// ListSearchAttributes tells what is registered.
func (f *frontend) ListSearchAttributes(context.Context, *operatorservice.ListSearchAttributesRequest) (*operatorservice.ListSearchAttributesResponse, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return &operatorservice.ListSearchAttributesResponse{CustomAttributes: maps.Clone(f.attributes)}, nil
}

// AddSearchAttributes refuses what is registered already, as the real one does.
func (f *frontend) AddSearchAttributes(_ context.Context, r *operatorservice.AddSearchAttributesRequest) (*operatorservice.AddSearchAttributesResponse, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for name, kind := range r.GetSearchAttributes() {
		if _, known := f.attributes[name]; known {
			return nil, serviceerror.NewAlreadyExists(name)
		}
		f.attributes[name] = kind
	}
	return &operatorservice.AddSearchAttributesResponse{}, nil
}

// CountWorkflowExecutions knows only registered attributes.
func (f *frontend) CountWorkflowExecutions(_ context.Context, r *workflowservice.CountWorkflowExecutionsRequest) (*workflowservice.CountWorkflowExecutionsResponse, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.queries = append(f.queries, r.GetQuery())
	name, _, found := strings.Cut(r.GetQuery(), " ")
	if _, known := f.attributes[name]; found && !known {
		return nil, serviceerror.NewInvalidArgument("no such attribute")
	}
	return &workflowservice.CountWorkflowExecutionsResponse{}, nil
}

// runningOn returns a Server whose child lives and whose frontend is f.
func runningOn(t *testing.T, f *frontend) *Server {
	t.Helper()
	s := &Server{options: Options{Port: f.serve(t)}.withDefaults()}
	start(t, "temporal-deaf", s.adopt(t))
	return s
}
