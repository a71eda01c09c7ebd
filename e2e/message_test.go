package e2e_test

import (
	"fmt"

	"github.com/stretchr/testify/require"
	"go.temporal.io/api/workflowservice/v1"
	"golang.org/x/sync/errgroup"

	"github.com/durabot/durabot/internal/contract"
	"github.com/durabot/durabot/starter"
)

// text is a message to a chat.
func text(chat int64, text string) contract.Call {
	return contract.Call{Method: "sendMessage", Params: map[string]any{"chat_id": chat, "text": text}}
}

// edit changes a message of the bot's.
func edit(chat, message int64, text string) contract.Call {
	return contract.Call{Method: "editMessageText", Params: map[string]any{"chat_id": chat, "message_id": message, "text": text}}
}

// typing shows that the bot is about to write.
func typing(chat int64) contract.Call {
	return contract.Call{Method: "sendChatAction", Params: map[string]any{"chat_id": chat, "action": "typing"}}
}

// enqueue accepts a call as durabot send does, but without a process for each,
// and returns its workflow ID.
func (w *world) enqueue(key string, call contract.Call) (string, error) {
	accepted, err := starter.NewMessages(w.temporal, w.bot, true).Send(w.t.Context(), starter.Message{Key: key, Call: call})
	return accepted.WorkflowID, err
}

// row accepts calls one after the other, each when the one before it waits in its
// place or has ended, so that their order is certain. It returns their workflow IDs.
func (w *world) row(calls ...contract.Call) []string {
	w.t.Helper()
	var ids []string
	for _, call := range calls {
		id, err := w.enqueue(fmt.Sprintf("row-%d", w.keys.Add(1)), call)
		require.NoError(w.t, err)
		w.eventually(id+" is on its way", func() bool { return w.onItsWay(id) })
		ids = append(ids, id)
	}
	return ids
}

// onItsWay reports whether a message's send was scheduled.
func (w *world) onItsWay(id string) bool {
	d, err := w.temporal.DescribeWorkflow(w.t.Context(), id, "")
	return err == nil && (len(d.RawResponse.GetPendingActivities()) > 0 || d.WorkflowCloseTime != nil)
}

// open reports whether a workflow has not ended.
func (w *world) open(id string) bool {
	d, err := w.temporal.DescribeWorkflow(w.t.Context(), id, "")
	require.NoError(w.t, err)
	return d.WorkflowCloseTime == nil
}

// bulk accepts n calls at bulk priority, several at once, and returns their
// workflow IDs.
func (w *world) bulk(n int, call func(i int) contract.Call) []string {
	w.t.Helper()
	ids := make([]string, n)
	var group errgroup.Group
	group.SetLimit(8)
	for i := range n {
		group.Go(func() (err error) {
			c := call(i)
			c.Priority = contract.Bulk
			ids[i], err = w.enqueue(fmt.Sprintf("bulk-%d", w.keys.Add(1)), c)
			return err
		})
	}
	require.NoError(w.t, group.Wait())
	return ids
}

// outcomes waits for messages to end and returns how each did.
func (w *world) outcomes(ids ...string) []contract.CallResult {
	w.t.Helper()
	all := make([]contract.CallResult, len(ids))
	for i, id := range ids {
		_ = w.ended(id, &all[i]) // a dead one fails, and says so in its outcome
	}
	return all
}

// found counts the bot's workflows of a type by their TgOutcome.
func (w *world) found(kind, outcome string) int64 {
	n, _ := w.count("WorkflowType = '%s' AND %s = '%s'", kind, contract.AttributeOutcome, outcome)
	return n
}

// count counts the bot's workflows that a query finds.
func (w *world) count(query string, args ...any) (int64, error) {
	res, err := w.temporal.CountWorkflow(w.t.Context(), &workflowservice.CountWorkflowExecutionsRequest{
		Query: fmt.Sprintf("TaskQueue = '%s' AND ", contract.TaskQueue(w.bot)) + fmt.Sprintf(query, args...),
	})
	return res.GetCount(), err
}
