package starter_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"

	"github.com/durabot/durabot/internal/contract"
	"github.com/durabot/durabot/starter"
)

func open(workflow, key string, at time.Time) *workflowpb.WorkflowExecutionInfo {
	return execution(workflow, map[string]any{contract.MemoOrder: key}, at)
}

type listed struct {
	at  time.Time
	req *workflowservice.ListWorkflowExecutionsRequest
}

// lists answers one list after the other, each of them in pages.
func lists(asked *[]listed, all ...[][]*workflowpb.WorkflowExecutionInfo) func(*workflowservice.ListWorkflowExecutionsRequest) (*workflowservice.ListWorkflowExecutionsResponse, error) {
	return func(r *workflowservice.ListWorkflowExecutionsRequest) (*workflowservice.ListWorkflowExecutionsResponse, error) {
		*asked = append(*asked, listed{time.Now(), r})
		page := 0
		if len(r.GetNextPageToken()) > 0 {
			page = int(r.GetNextPageToken()[0])
		}
		res := &workflowservice.ListWorkflowExecutionsResponse{Executions: all[0][page]}
		if page+1 < len(all[0]) {
			res.NextPageToken = []byte{byte(page + 1)}
		} else {
			all = all[1:]
		}
		return res, nil
	}
}

func TestRebuildFindsTheNewestOpenUpdateOfEachKeyAcrossPages(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := setup(starter.Settings{})
		t0 := time.Now()
		pages := [][]*workflowpb.WorkflowExecutionInfo{
			{open(id(900), "chat/1", t0), open(id(11), "chat/2", t0), open(id(12), "chat/2", t0)},
			{open(id(5), "chat/1", t0.Add(time.Hour)), open(id(4), "chat/1", t0.Add(time.Minute))},
			{open(id(20), "", t0), open("message/77/x", "chat/3", t0), execution(id(21), nil, t0)},
		}
		var asked []listed
		b.server.list = lists(&asked, pages, pages)
		require.NoError(t, b.inbox.Rebuild(t.Context()))
		require.Equal(t, id(5), b.tails.After("chat/1"), "by time, since ids may start over")
		require.Equal(t, id(12), b.tails.After("chat/2"), "by id at the same time")
		require.Empty(t, b.tails.After("chat/3"), "no update")
		require.Equal(t, 2, b.tails.Len())
		require.Len(t, asked, 6)
	})
}

func TestRebuildListsTwiceASecondApart(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := setup(starter.Settings{})
		t0 := time.Now()
		var asked []listed
		b.server.list = lists(&asked,
			[][]*workflowpb.WorkflowExecutionInfo{{open(id(1), "chat/1", t0)}},
			[][]*workflowpb.WorkflowExecutionInfo{{open(id(1), "chat/1", t0), open(id(2), "chat/1", t0.Add(time.Millisecond))}})
		require.NoError(t, b.inbox.Rebuild(t.Context()))
		require.Equal(t, id(2), b.tails.After("chat/1"), "it was not listed at first")
		require.Len(t, asked, 2)
		require.Equal(t, time.Second, asked[1].at.Sub(asked[0].at))
		require.Equal(t, "WorkflowType = 'UpdateWorkflow' AND TaskQueue = 'durabot-77' AND ExecutionStatus = 'Running'",
			asked[0].req.GetQuery())
		require.Equal(t, int32(1000), asked[0].req.GetPageSize())
	})
}

func TestAfterRebuildTheFirstUpdateWaitsForTheLastOfTheOldProcess(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := setup(starter.Settings{})
		pages := [][]*workflowpb.WorkflowExecutionInfo{{open(id(8), "chat/42", time.Now())}}
		var asked []listed
		b.server.list = lists(&asked, pages, pages)
		require.NoError(t, b.inbox.Rebuild(t.Context()))
		store(t, b, `{"update_id":9,"message":{"chat":{"id":42}}}`)
		require.Equal(t, id(8), b.server.get(t, 9).in.After)
	})
}

func TestRebuildFailsWhenItCannotList(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		boom := errors.New("boom")
		for failing := range 2 {
			b := setup(starter.Settings{})
			n := 0
			b.server.list = func(*workflowservice.ListWorkflowExecutionsRequest) (*workflowservice.ListWorkflowExecutionsResponse, error) {
				if n++; n == failing+1 {
					return nil, boom
				}
				return &workflowservice.ListWorkflowExecutionsResponse{}, nil
			}
			err := b.inbox.Rebuild(t.Context())
			require.ErrorIs(t, err, boom)
			require.ErrorContains(t, err, "list open updates: ")
		}
	})
}

func TestRebuildEndsWithItsContext(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		b := setup(starter.Settings{})
		b.server.list = func(*workflowservice.ListWorkflowExecutionsRequest) (*workflowservice.ListWorkflowExecutionsResponse, error) {
			cancel()
			return &workflowservice.ListWorkflowExecutionsResponse{}, nil
		}
		begun := time.Now()
		require.ErrorIs(t, b.inbox.Rebuild(ctx), context.Canceled)
		require.Zero(t, time.Since(begun))
	})
}
