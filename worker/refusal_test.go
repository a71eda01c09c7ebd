package worker_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/durabot/durabot/worker"
)

func TestOnlyAnAnswerThatWillNotChangeIsARefusal(t *testing.T) {
	t.Parallel()
	for _, err := range []error{
		nil, serviceerror.NewUnavailable("later"), context.DeadlineExceeded, errors.New("broken pipe"), serviceerror.NewInternal("disk"),
	} {
		require.NoError(t, worker.Refusal(err, "temporal:7233", "bots"))
	}
	for want, answers := range map[string][]error{
		`no namespace "bots" at temporal:7233: create it with`: {
			serviceerror.NewNamespaceInvalidState("bots", enumspb.NAMESPACE_STATE_DELETED, nil),
			serviceerror.NewNamespaceNotFound("bots"), serviceerror.NewNotFound("bots"), fmt.Errorf("ask: %w", serviceerror.NewNamespaceNotFound("bots")),
		},
		`TEMPORAL_API_KEY: Temporal at temporal:7233 refuses these credentials for namespace "bots"`: {
			serviceerror.NewPermissionDenied("no", ""), serviceerror.FromStatus(status.New(codes.Unauthenticated, "expired")),
		},
	} {
		for _, err := range answers {
			require.ErrorContains(t, worker.Refusal(err, "temporal:7233", "bots"), want)
		}
	}
}
