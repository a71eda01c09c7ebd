package starter_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/durabot/durabot/internal/contract"
	"github.com/durabot/durabot/starter"
)

func TestABroadcastIsStartedWithTheseOptionsAndNoOthers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c, now := newCrier(), time.Now()
		at := now.Add(time.Hour)
		bc := news("news", people(2500, nil))
		bc.What.Rate, bc.Origin, bc.By, bc.Reason, bc.At = 5, "older", "ann", "why", at
		var told atomic.Int64
		got, err := starter.NewBroadcasts(c, bot, true).Start(t.Context(), bc, func(n int) { told.Add(int64(n)) })
		require.NoError(t, err)
		require.Equal(t, starter.BroadcastStart{Name: "news", WorkflowID: "broadcast/77/news", Parts: 2, At: now}, got)
		require.EqualValues(t, 2500, told.Load())

		require.NoError(t, bc.Seal())
		hash := c.opts["broadcast/77/news"].Memo["hash"]
		require.Regexp(t, "^[0-9a-f]{64}$", hash)
		state := contract.BroadcastState{
			Phase: contract.BroadcastScheduled, Total: 2500, Method: "sendMessage", Rate: 5, Origin: "older", AcceptedAt: now, At: at,
			Actions: []contract.BroadcastOrder{{What: "start", By: "ann", Reason: "why", At: now}},
		}
		want := client.StartWorkflowOptions{
			ID: "broadcast/77/news", TaskQueue: "durabot-77",
			WorkflowIDReusePolicy:                    enumspb.WORKFLOW_ID_REUSE_POLICY_REJECT_DUPLICATE,
			WorkflowExecutionErrorWhenAlreadyStarted: true,
			Memo:                                     map[string]any{"hash": hash, "state": state},
			TypedSearchAttributes:                    temporal.NewSearchAttributes(temporal.NewSearchAttributeKeyKeyword("TgKind").ValueSet("sendMessage")),
			StaticSummary:                            "sendMessage → 2500 chats",
		}
		require.Equal(t, want, c.opts["broadcast/77/news"])
		require.Equal(t, contract.BroadcastInput{BotID: bot, Name: "news", Sizes: []int{2000, 500}, At: at, State: state, Attributes: true}, c.whole["broadcast/77/news"])

		want.ID, want.StaticSummary, want.TypedSearchAttributes = "broadcast/77/news/2", "part 2 of 2 of news", temporal.SearchAttributes{}
		want.Memo, want.Priority = map[string]any{"hash": hash, "state": contract.PartState{Total: 500}}, temporal.Priority{PriorityKey: 5}
		require.Equal(t, want, c.opts["broadcast/77/news/2"])
		part := c.parts["broadcast/77/news/2"]
		require.Equal(t, contract.Addressee{Recipient: contract.Recipient{Chat: "2001"}}, part.Recipients[0])
		part.Recipients = nil
		require.Equal(t, contract.PartInput{
			BotID: bot, Name: "news", Part: 2, Parts: 2, What: bc.What, Until: at.Add(30 * 24 * time.Hour),
		}, part)
		require.Equal(t, contract.Bulk, part.What.Call.Priority)
	})
}

func TestABroadcastWhoseTimeHasComeRuns(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		for _, at := range []time.Time{{}, time.Now(), time.Now().Add(-time.Hour)} {
			c, bc := newCrier(), news("n", people(1, nil))
			bc.At = at
			_, err := launch(t, c, bc)
			require.NoError(t, err)
			require.Equal(t, contract.BroadcastRunning, c.whole["broadcast/77/n"].State.Phase)
			require.Equal(t, time.Now().Add(30*24*time.Hour), c.parts["broadcast/77/n/1"].Until)
		}
	})
}

func TestTheSameBroadcastAgainStartsNothing(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newCrier()
		first, err := launch(t, c, news("n", people(3, nil)))
		require.NoError(t, err)
		<-time.After(time.Hour)
		c.end("broadcast/77/n")
		c.taken["broadcast/77/n"].WorkflowExecutionInfo.StartTime = timestamppb.Now() // of the run that continued
		c.end("broadcast/77/n/1")
		bc := news("n", people(3, map[string]string{"unused": "x"}))
		bc.At, bc.By = time.Now().Add(time.Hour), "bob"
		bc.What.Call.Params = map[string]any{"text": "SECRET news"}
		c.before = func(string) error { return errors.New("a start was tried, and its part may be forgotten") }
		again, err := launch(t, c, bc)
		require.NoError(t, err)
		require.True(t, again.Duplicate)
		require.True(t, again.At.Equal(first.At), "the first time counts")
		require.Equal(t, first.WorkflowID, again.WorkflowID)
		require.Len(t, c.order, 2)
	})
}

func TestANameThatAnotherBroadcastHasIsRefused(t *testing.T) {
	t.Parallel()
	c := newCrier()
	_, err := launch(t, c, news("n", people(3, nil)))
	require.NoError(t, err)
	for what, change := range map[string]func(*starter.Broadcast){
		"audience": func(b *starter.Broadcast) { b.Recipients = people(4, nil) },
		"order":    func(b *starter.Broadcast) { b.Recipients = chats("1", "3", "2") },
		"doubt":    func(b *starter.Broadcast) { b.Recipients[1].Doubtful = true },
		"rate":     func(b *starter.Broadcast) { b.What.Rate = 3 },
		"template": func(b *starter.Broadcast) { b.What.Template = true },
		"ttl":      func(b *starter.Broadcast) { b.What.Call.TTL = time.Hour },
		"delivery": func(b *starter.Broadcast) { b.What.Call.Delivery = contract.AtMostOnce },
		"fallback": func(b *starter.Broadcast) { b.What.Call.PlainFallback = true },
		"paid":     func(b *starter.Broadcast) { b.Paid = true },
		"params":   func(b *starter.Broadcast) { b.What.Call.Params = map[string]any{"text": "other"} },
	} {
		bc := news("n", people(3, nil))
		change(&bc)
		_, err := launch(t, c, bc)
		require.ErrorIs(t, err, starter.ErrOtherBroadcast, what)
		require.NotContains(t, err.Error(), "SECRET")
		delete(c.taken, "broadcast/77/n")
		_, err = launch(t, c, bc)
		require.ErrorIs(t, err, starter.ErrOtherBroadcast, "%s: of a part", what)
		c = newCrier()
		_, err = launch(t, c, news("n", people(3, nil)))
		require.NoError(t, err)
	}
}

func TestAStartThatWasCutGoesOnAndStartsNothingTwice(t *testing.T) {
	t.Parallel()
	all := people(170, map[string]string{"x": strings.Repeat("x", 15_000)}) // 17 in a part
	boom := errors.New("boom")
	for _, n := range []int{0, 1, 5, 9, 10} { // ten parts, and then the broadcast
		for _, lost := range []bool{false, true} {
			c := newCrier()
			var starts atomic.Int64
			cut := func(string) error {
				if starts.Add(1) > int64(n) {
					return boom
				}
				return nil
			}
			none := c.before
			if lost {
				c.after = cut // the server has it, and its answer is lost
			} else {
				c.before = cut
			}
			bc := news("n", all)
			bc.What.Template = true
			_, err := launch(t, c, bc)
			require.ErrorIs(t, err, boom)
			c.before, c.after = none, none
			told := 0
			got, err := starter.NewBroadcasts(c, bot, false).Start(t.Context(), bc, func(n int) { told += n })
			require.NoError(t, err)
			require.Equal(t, lost && n == 10, got.Duplicate)
			require.True(t, got.Duplicate || told == len(all), "parts that are found count")
			require.Equal(t, all, c.audience(t, "n"))
		}
	}
}

func TestTwoStartsAtOnceAreOneBroadcast(t *testing.T) {
	t.Parallel()
	c, all := newCrier(), people(50_000, nil)
	var duplicates atomic.Int64
	done := make(chan error)
	for range 4 {
		go func() {
			got, err := launch(t, c, news("n", all))
			if got.Duplicate {
				duplicates.Add(1)
			}
			done <- err
		}()
	}
	for range 4 {
		require.NoError(t, <-done)
	}
	require.EqualValues(t, 3, duplicates.Load())
	require.Equal(t, all, c.audience(t, "n"))
}

func TestPartsAreStartedSixteenAtATime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newCrier()
		c.before = func(string) error { <-time.After(time.Second); return nil }
		began := time.Now()
		_, err := launch(t, c, news("n", people(64_000, nil))) // 32 parts
		require.NoError(t, err)
		require.Equal(t, 16, c.most)
		require.Equal(t, 3*time.Second, time.Since(began))
	})
}

func TestAnInterruptedStartEndsSoon(t *testing.T) {
	t.Parallel()
	c := newCrier()
	ctx, cancel := context.WithCancel(t.Context())
	_, err := starter.NewBroadcasts(c, bot, false).Start(ctx, news("n", people(100_000, nil)), func(int) { cancel() })
	require.ErrorIs(t, err, context.Canceled)
	require.Less(t, len(c.order), 50)
	require.Empty(t, c.whole)
}

func TestAPartThatHasEndedBeforeItsBroadcastWasStartedIsTold(t *testing.T) {
	t.Parallel()
	c := newCrier()
	bc := news("n", people(4000, nil))
	_, err := launch(t, c, bc)
	require.NoError(t, err)
	c.end("broadcast/77/n/2")
	whole := c.taken["broadcast/77/n"]
	delete(c.taken, "broadcast/77/n")
	_, err = launch(t, c, bc)
	require.EqualError(t, err, "broadcast/77/n/2 has ended before its broadcast was started: choose another name")

	looks := 0
	c.look = func(id string) error {
		if id == "broadcast/77/n" {
			if looks++; looks == 2 { // somebody else starts it between the two
				c.taken[id] = whole
			}
		}
		return nil
	}
	got, err := launch(t, c, bc)
	require.NoError(t, err)
	require.True(t, got.Duplicate)
}

func TestAPartThatIsForgottenThisMomentIsStartedAgain(t *testing.T) {
	t.Parallel()
	c := newCrier()
	bc := news("n", people(1, nil))
	_, err := launch(t, c, bc)
	require.NoError(t, err)
	delete(c.taken, "broadcast/77/n")
	c.look = func(id string) error {
		if id == "broadcast/77/n/1" {
			delete(c.taken, id)
		}
		return nil
	}
	got, err := launch(t, c, bc)
	require.NoError(t, err)
	require.False(t, got.Duplicate)

	delete(c.taken, "broadcast/77/n")
	c.look = func(string) error { return serviceerror.NewNotFound("gone") }
	_, err = launch(t, c, bc)
	require.EqualError(t, err, "start broadcast/77/n/1: it is there, and cannot be found")
}

func TestWithoutAnAnswerToALookNothingIsStarted(t *testing.T) {
	t.Parallel()
	c, boom := newCrier(), errors.New("boom")
	c.look = func(string) error { return boom }
	_, err := launch(t, c, news("n", people(1, nil)))
	require.ErrorIs(t, err, boom)
	require.ErrorContains(t, err, "look at broadcast/77/n")
	require.Empty(t, c.order)
}

func TestWhereChatsAreNowIsAskedOfTheirWorkflows(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newServer()
		moved := func(from, to int64, at time.Time) *workflowpb.WorkflowExecutionInfo {
			return execution(contract.ChatID(bot, from), map[string]any{
				"state": contract.ChatState{ChatID: from, Moved: &contract.ChatMoved{To: to, Since: at}},
			}, at)
		}
		s.list = func(r *workflowservice.ListWorkflowExecutionsRequest) (*workflowservice.ListWorkflowExecutionsResponse, error) {
			require.Equal(t, "WorkflowType = 'ChatWorkflow' AND TaskQueue = 'durabot-77' AND ExecutionStatus = 'Running'", r.GetQuery())
			closed := execution(contract.ChatID(bot, 9), map[string]any{"state": contract.ChatState{ChatID: 9, Closed: &contract.ChatClosed{}}}, time.Now())
			return &workflowservice.ListWorkflowExecutionsResponse{Executions: []*workflowpb.WorkflowExecutionInfo{
				moved(1, 2, time.Now()), moved(2, 3, time.Now()), closed, execution("chat/77/8", nil, time.Now()),
			}}, nil
		}
		moves, err := starter.NewBroadcasts(s, bot, false).Moves(t.Context())
		require.NoError(t, err)
		require.Equal(t, []int64{3, 3, 3, 9, 0}, []int64{moves(1), moves(2), moves(3), moves(9), moves(0)})

		boom := errors.New("boom")
		s.list = func(*workflowservice.ListWorkflowExecutionsRequest) (*workflowservice.ListWorkflowExecutionsResponse, error) {
			return nil, boom
		}
		_, err = starter.NewBroadcasts(s, bot, false).Moves(t.Context())
		require.ErrorIs(t, err, boom)
	})
}

func TestThreeHundredThousandRecipientsAre150SmallParts(t *testing.T) {
	t.Parallel()
	c := newCrier()
	got, err := launch(t, c, news("n", people(300_000, nil)))
	require.NoError(t, err)
	require.Equal(t, 150, got.Parts)
	require.Less(t, c.largest, 512<<10)
	require.Len(t, c.audience(t, "n"), 300_000)
}

func TestAPartIsSmallHoweverLargeItsRecipientsAndItsCall(t *testing.T) {
	t.Parallel()
	c := newCrier()
	wide := strings.Repeat("<", 2500) // six bytes each in JSON
	bc := news("n", people(200, map[string]string{"x": wide}))
	bc.What.Template = true
	bc.What.Call = contract.Call{Method: "sendPhoto", Params: map[string]any{"caption": "{{len .x}}", "photo": strings.Repeat("<", 21_000)}}
	got, err := launch(t, c, bc)
	require.NoError(t, err)
	require.Equal(t, 12, got.Parts, "of 17 recipients each")
	require.Less(t, c.largest, 512<<10)
	require.Greater(t, c.largest, 370<<10, "and filled")
	require.Equal(t, bc.Recipients, c.audience(t, "n"))
}
