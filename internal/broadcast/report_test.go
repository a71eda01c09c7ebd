package broadcast_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	enumspb "go.temporal.io/api/enums/v1"

	"github.com/durabot/durabot/internal/broadcast"
	"github.com/durabot/durabot/internal/contract"
)

// started is a server with a broadcast of so many parts of two recipients.
func started(parts int) *server {
	s := newServer()
	sizes := slices.Repeat([]int{2}, parts)
	s.broadcast(contract.BroadcastState{Total: 2 * parts}).input = contract.BroadcastInput{Sizes: sizes}
	for n := range parts {
		s.part(n+1, 2)
	}
	return s
}

func (s *server) at(n int) *run { return s.runs[contract.PartID(bot, name, n)] }

// ends closes part n with a result.
func (s *server) ends(n int, all []contract.RecipientResult) {
	r := s.at(n)
	r.status, r.result = enumspb.WORKFLOW_EXECUTION_STATUS_COMPLETED, contract.PartResult{Results: all}
}

// told is a report, a line for each row.
func told(t *testing.T, s *server) (lines []string, complete bool) {
	t.Helper()
	complete, err := broadcast.Report(t.Context(), s, bot, name, func(r broadcast.Row) error {
		lines = append(lines, r.Chat+" "+r.Outcome)
		return nil
	})
	require.NoError(t, err)
	return lines, complete
}

func TestAReportHasEveryRecipientPartByPart(t *testing.T) {
	t.Parallel()
	s := started(4)
	s.ends(1, append(results("1000"), contract.RecipientResult{Chat: "1001", Outcome: contract.Dead, Reason: contract.ReasonRejected}))
	s.at(2).answer = &contract.PartResult{Results: results("2001"), Left: []string{"2000"}}
	s.at(3).status = enumspb.WORKFLOW_EXECUTION_STATUS_TERMINATED
	s.at(4).answer = &contract.PartResult{Left: []string{"4000", "4001"}}
	lines, complete := told(t, s)
	require.True(t, complete)
	require.Equal(t, []string{
		"1000 delivered", "1001 rejected", "2001 delivered", "2000 pending", "3000 uncertain", "3001 uncertain", "4000 pending", "4001 pending",
	}, lines)
}

func TestARowTellsAllThatIsKnown(t *testing.T) {
	t.Parallel()
	s := started(1)
	s.ends(1, []contract.RecipientResult{{
		Chat: "1000", Outcome: contract.Delivered, MessageID: "5", Error: "e", At: began, PossibleDuplicate: true, Degraded: true, MovedTo: "-1",
	}})
	_, err := broadcast.Report(t.Context(), s, bot, name, func(r broadcast.Row) error {
		require.Equal(t, broadcast.Row{
			Chat: "1000", Outcome: "delivered", MessageID: "5", Error: "e", At: began, PossibleDuplicate: true, Degraded: true, MovedTo: "-1",
		}, r)
		return nil
	})
	require.NoError(t, err)
}

// A part that continued began with what it knew.
func TestWhereNoProcessRunsAReportSaysThatItIsNotComplete(t *testing.T) {
	t.Parallel()
	s := started(2)
	s.ends(2, results("2000", "2001"))
	in, _ := s.at(1).input.(contract.PartInput)
	in.Results, in.Recipients = results("1000"), in.Recipients[1:]
	s.at(1).firstRun, s.at(1).input = s.at(1).input, in
	lines, complete := told(t, s)
	require.False(t, complete)
	require.Equal(t, []string{"1000 delivered", "1001 pending", "2000 delivered", "2001 delivered"}, lines)
}

func TestPartsThatDoNotAnswerAreNotAskedOneAfterTheOther(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := started(500)
		s.hangs = true
		asked := time.Now()
		lines, complete := told(t, s)
		require.False(t, complete)
		require.Len(t, lines, 1000)
		require.LessOrEqual(t, s.asked, 8)
		require.LessOrEqual(t, time.Since(asked), 20*time.Second)
	})
}

func TestAReportReadsAFewPartsAhead(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := started(50)
		for n := range 50 {
			s.ends(n+1, results(fmt.Sprint(n)))
		}
		shown := 0
		_, err := broadcast.Report(t.Context(), s, bot, name, func(broadcast.Row) error {
			synctest.Wait()
			shown++
			s.mu.Lock()
			defer s.mu.Unlock()
			require.LessOrEqual(t, s.read-1, shown+4, "the first is of the broadcast")
			return nil
		})
		require.NoError(t, err)
		require.Equal(t, 50, shown)
	})
}

func TestAReportEndsWithWhomItIsShownTo(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) { // and leaves nobody behind
		s := started(50)
		full := errors.New("the disk is full")
		_, err := broadcast.Report(t.Context(), s, bot, name, func(broadcast.Row) error { return full })
		require.ErrorIs(t, err, full)
		ctx, cancel := context.WithCancel(t.Context())
		_, err = broadcast.Report(ctx, s, bot, name, func(broadcast.Row) error {
			cancel()
			return nil
		})
		require.ErrorIs(t, err, context.Canceled)
	})
}

func TestAPartThatIsForgottenIsAnError(t *testing.T) {
	t.Parallel()
	s := started(2)
	delete(s.runs, contract.PartID(bot, name, 1))
	_, err := broadcast.Report(t.Context(), s, bot, name, func(broadcast.Row) error { return nil })
	require.EqualError(t, err, "broadcast/7/may/1 is forgotten: it ended longer ago than the namespace's retention")
	require.NotErrorIs(t, err, broadcast.ErrNone)
	_, _, err = broadcast.Recipients(t.Context(), s, bot, name)
	require.ErrorContains(t, err, "is forgotten")
	_, err = broadcast.Report(t.Context(), newServer(), bot, name, nil)
	require.ErrorIs(t, err, broadcast.ErrNone)
}

func TestRecipientsAreThoseOfTheStart(t *testing.T) {
	t.Parallel()
	s := started(2)
	first, _ := s.at(2).input.(contract.PartInput)
	first.What.Template, first.What.Call.Method = true, "sendMessage"
	first.Recipients[0].Fields = map[string]string{"name": "Ann"}
	s.at(2).firstRun, s.at(2).input = first, contract.PartInput{Results: results("2000", "2001"), What: first.What}
	what, all, err := broadcast.Recipients(t.Context(), s, bot, name)
	require.NoError(t, err)
	require.Equal(t, first.What, what)
	require.Len(t, all, 4)
	require.Equal(t, contract.Recipient{Chat: "2000", Fields: map[string]string{"name": "Ann"}}, all["2000"])
}
