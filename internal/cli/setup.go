package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"go.temporal.io/api/namespace/v1"
	"go.temporal.io/api/operatorservice/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflowservice/v1"
	"google.golang.org/protobuf/types/known/durationpb"

	enumspb "go.temporal.io/api/enums/v1"
)

const (
	// goodRetention is what setup raises the retention to.
	goodRetention = 7 * 24 * time.Hour
	// usableWithin bounds the wait for new search attributes: the server's parts
	// learn of them one after the other.
	usableWithin = time.Minute
	usableRetry  = 200 * time.Millisecond
)

func (p Program) setupCommand() *cobra.Command {
	return &cobra.Command{
		Use: "setup", Short: "Prepare a Temporal namespace: search attributes, retention 7 days", Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return p.connected(cmd.Context(), func(s *frontend) error { return p.setup(cmd.Context(), s) })
		},
	}
}

// setup changes what is missing and says so. Run again it changes nothing.
func (p Program) setup(ctx context.Context, s *frontend) error {
	fmt.Fprintf(p.Stdout, "namespace %s at %s\n", s.options.Namespace, s.options.HostPort)
	if err := p.setupRetention(ctx, s); err != nil {
		return err
	}
	return p.setupAttributes(ctx, s)
}

// setupRetention never lowers: a longer retention is somebody's wish.
func (p Program) setupRetention(ctx context.Context, s *frontend) error {
	found, err := s.retention(ctx)
	if err != nil {
		return s.why(err)
	}
	if found >= goodRetention {
		fmt.Fprintf(p.Stdout, "retention: %s, nothing to do\n", brief(found))
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, temporalCall)
	defer cancel()
	_, err = s.WorkflowService().UpdateNamespace(ctx, &workflowservice.UpdateNamespaceRequest{
		Namespace: s.options.Namespace,
		Config:    &namespace.NamespaceConfig{WorkflowExecutionRetentionTtl: durationpb.New(goodRetention)},
	})
	if err != nil {
		return s.mayNot(err, "raise the retention", "tcld namespace retention set --namespace %s --retention-days 7")
	}
	fmt.Fprintf(p.Stdout, "retention: raised from %s to %s\n", brief(found), brief(goodRetention))
	return nil
}

// setupAttributes adds those that are missing. One of another type it leaves
// alone: removing it could lose what somebody else stored in it.
func (p Program) setupAttributes(ctx context.Context, s *frontend) error {
	missing, wrong, err := s.attributes(ctx)
	if err != nil {
		return s.mayNot(err, "read the search attributes", "tcld namespace get --namespace %s")
	}
	if len(wrong) > 0 {
		return errors.New(strings.Join(wrong, ", ") + ": remove what is there, then run `durabot setup` again")
	}
	if len(missing) == 0 {
		fmt.Fprintln(p.Stdout, "search attributes: all there, nothing to do")
		return nil
	}
	if err := s.register(ctx, missing); err != nil {
		return err
	}
	fmt.Fprintf(p.Stdout, "search attributes: registered %s (Keyword); a running bot uses them once it is restarted\n", strings.Join(missing, ", "))
	return nil
}

// register adds the attributes and waits until queries may name them.
func (s *frontend) register(ctx context.Context, names []string) error {
	types := map[string]enumspb.IndexedValueType{}
	for _, name := range names {
		types[name] = enumspb.INDEXED_VALUE_TYPE_KEYWORD
	}
	add, cancel := context.WithTimeout(ctx, 2*temporalCall)
	defer cancel()
	_, err := s.OperatorService().AddSearchAttributes(add, &operatorservice.AddSearchAttributesRequest{
		Namespace: s.options.Namespace, SearchAttributes: types,
	})
	if err != nil {
		return s.mayNot(err, "register the search attributes "+strings.Join(names, ", "),
			"tcld namespace search-attributes add --namespace %s --search-attribute "+strings.Join(names, "=Keyword --search-attribute ")+"=Keyword")
	}
	return s.awaitUsable(ctx, names)
}

// awaitUsable asks with each name until the query is understood.
func (s *frontend) awaitUsable(ctx context.Context, names []string) error {
	ctx, cancel := context.WithTimeout(ctx, usableWithin)
	defer cancel()
	for _, name := range names {
		for {
			_, err := s.count(ctx, name+` = "probe"`)
			if err == nil {
				break
			}
			if pause(ctx, usableRetry); ctx.Err() != nil {
				return fmt.Errorf("search attribute %s: registered, and not usable after %v: run `durabot setup` again: %w", name, usableWithin, err)
			}
		}
	}
	return nil
}

// mayNot is an error of a change, with the way around a missing permission.
// Temporal Cloud lets nobody do this over the API that workers use.
func (s *frontend) mayNot(err error, step, tcld string) error {
	var denied *serviceerror.PermissionDenied
	var unknown *serviceerror.Unimplemented
	if errors.As(err, &denied) || errors.As(err, &unknown) {
		return fmt.Errorf("no permission to %s of namespace %s: ask its administrator; on Temporal Cloud use the Cloud UI or `%s`",
			step, s.options.Namespace, fmt.Sprintf(tcld, s.options.Namespace))
	}
	return fmt.Errorf("%s of namespace %s: %w", step, s.options.Namespace, err)
}
