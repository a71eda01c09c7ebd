package devserver

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"time"

	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/namespace/v1"
	"go.temporal.io/api/operatorservice/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/log"
	"google.golang.org/protobuf/types/known/durationpb"
)

const (
	// defaultNamespace is the one that a dev server creates by itself.
	defaultNamespace = "default"
	// probeEvery is the pace of asking a starting server.
	probeEvery = 50 * time.Millisecond
	// probeTimeout bounds one question to a starting server.
	probeTimeout = 5 * time.Second
)

// awaitUsable returns when workflows can be started and found. It gives up at
// once when the server exits.
func (s *Server) awaitUsable(ctx context.Context) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	watched := make(chan struct{})
	defer func() { <-watched }()
	defer cancel(nil)
	go func() {
		defer close(watched)
		select {
		case <-s.child.ended:
			cancel(fmt.Errorf("%w: %s", ErrExited, s.child.cmd.ProcessState))
		case <-ctx.Done():
		}
	}()

	// gRPC waits a full second after a refused connection, so the port is
	// tried without it first.
	err := until(ctx, "connect", func(ctx context.Context) error { return dial(ctx, s.Addr()) })
	if err != nil {
		return err
	}
	temporal, err := client.NewLazyClient(client.Options{
		HostPort:  s.Addr(),
		Namespace: defaultNamespace,
		Logger:    log.NewStructuredLogger(slog.New(slog.DiscardHandler)),
	})
	if err != nil {
		return fmt.Errorf("create a client: %w", err)
	}
	defer temporal.Close()
	return s.prepare(ctx, temporal)
}

// prepare brings the namespace into the promised state. Every step is repeated
// until it succeeds: the server's parts become ready one after the other.
func (s *Server) prepare(ctx context.Context, temporal client.Client) error {
	steps := []struct {
		name string
		do   func(context.Context, client.Client) error
	}{
		{"check health", checkHealth},
		{"raise retention", s.raiseRetention},
		{"register search attributes", s.registerAttributes},
		{"query the namespace", s.queryNamespace},
	}
	for _, step := range steps {
		do := func(ctx context.Context) error { return step.do(ctx, temporal) }
		if err := until(ctx, step.name, do); err != nil {
			return err
		}
	}
	return nil
}

// until repeats do until it succeeds or ctx ends, and then returns why ctx
// ended together with the last answer.
func until(ctx context.Context, name string, do func(context.Context) error) error {
	for {
		attempt, cancel := context.WithTimeout(ctx, probeTimeout)
		err := do(attempt)
		cancel()
		if err == nil {
			return nil
		}
		if pause(ctx, probeEvery) {
			continue
		}
		cause := context.Cause(ctx)
		if errors.Is(cause, ErrExited) {
			return cause // the last answer says only that nobody is there
		}
		return fmt.Errorf("%s: %w: %w", name, cause, err)
	}
}

func dial(ctx context.Context, address string) error {
	var dialer net.Dialer
	connection, err := dialer.DialContext(ctx, "tcp", address)
	if err != nil {
		return err
	}
	return connection.Close()
}

func checkHealth(ctx context.Context, temporal client.Client) error {
	_, err := temporal.CheckHealth(ctx, &client.CheckHealthRequest{})
	return err
}

// raiseRetention keeps closed workflows long enough for durabot's deduplication.
// It never shortens what a database already has.
func (s *Server) raiseRetention(ctx context.Context, temporal client.Client) error {
	service := temporal.WorkflowService()
	found, err := service.DescribeNamespace(ctx, &workflowservice.DescribeNamespaceRequest{
		Namespace: defaultNamespace,
	})
	if err != nil {
		return err
	}
	if found.GetConfig().GetWorkflowExecutionRetentionTtl().AsDuration() >= s.options.Retention {
		return nil
	}
	_, err = service.UpdateNamespace(ctx, &workflowservice.UpdateNamespaceRequest{
		Namespace: defaultNamespace,
		Config: &namespace.NamespaceConfig{
			WorkflowExecutionRetentionTtl: durationpb.New(s.options.Retention),
		},
	})
	return err
}

// registerAttributes adds what the command line could not: the server registers
// the attributes of its command line only in a database that it creates.
func (s *Server) registerAttributes(ctx context.Context, temporal client.Client) error {
	service := temporal.OperatorService()
	found, err := service.ListSearchAttributes(ctx, &operatorservice.ListSearchAttributesRequest{
		Namespace: defaultNamespace,
	})
	if err != nil {
		return err
	}
	missing := map[string]enums.IndexedValueType{}
	for _, name := range s.options.SearchAttributes {
		if _, ok := found.GetCustomAttributes()[name]; !ok {
			missing[name] = enums.INDEXED_VALUE_TYPE_KEYWORD
		}
	}
	if len(missing) == 0 {
		return nil
	}
	_, err = service.AddSearchAttributes(ctx, &operatorservice.AddSearchAttributesRequest{
		Namespace:        defaultNamespace,
		SearchAttributes: missing,
	})
	return err
}

// queryNamespace proves that the namespace and the attributes have reached the
// server's caches, which lag behind its database by seconds.
func (s *Server) queryNamespace(ctx context.Context, temporal client.Client) error {
	queries := []string{""}
	for _, name := range s.options.SearchAttributes {
		queries = append(queries, name+` = "probe"`)
	}
	for _, query := range queries {
		_, err := temporal.CountWorkflow(ctx, &workflowservice.CountWorkflowExecutionsRequest{
			Namespace: defaultNamespace,
			Query:     query,
		})
		if err != nil {
			return err
		}
	}
	return nil
}
