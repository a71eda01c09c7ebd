package workflows_test

import (
	"encoding/json"
	"log/slog"
	"time"

	"github.com/stretchr/testify/mock"
	"go.temporal.io/sdk/interceptor"
	sdklog "go.temporal.io/sdk/log"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"github.com/durabot/durabot/internal/contract"
)

func newEnv(spies ...interceptor.WorkerInterceptor) *testsuite.TestWorkflowEnvironment {
	var suite testsuite.WorkflowTestSuite
	suite.SetLogger(sdklog.NewStructuredLogger(slog.New(slog.DiscardHandler)))
	env := suite.NewTestWorkflowEnvironment()
	env.SetTestTimeout(20 * time.Second)
	env.SetWorkerOptions(worker.Options{
		DeadlockDetectionTimeout: 20 * time.Second, // this machine may be busy
		Interceptors:             spies,
	})
	for name, w := range known {
		env.RegisterWorkflowWithOptions(w, workflow.RegisterOptions{Name: name})
	}
	return env
}

// shown is what a workflow has shown, in order, and when.
type shown struct {
	memos    []string // as JSON
	at       []time.Time
	outcomes []string
}

func watch(env *testsuite.TestWorkflowEnvironment) *shown {
	s := new(shown)
	env.OnUpsertMemo(mock.Anything).Return(nil).Run(func(args mock.Arguments) {
		data, err := json.Marshal(args.Get(0).(map[string]any)[contract.MemoState])
		if err != nil {
			panic(err)
		}
		s.memos, s.at = append(s.memos, string(data)), append(s.at, env.Now())
	})
	env.OnUpsertTypedSearchAttributes(mock.Anything).Return(nil).Run(func(args mock.Arguments) {
		outcome, ok := args.Get(0).(temporal.SearchAttributes).GetKeyword(outcomeKey)
		if !ok {
			outcome = unset
		}
		s.outcomes = append(s.outcomes, outcome)
	})
	return s
}

// unset is what an outcome that was taken back is recorded as.
const unset = "unset"

// last is the state that is to be seen now.
func (s *shown) last() string {
	if len(s.memos) == 0 {
		return ""
	}
	return s.memos[len(s.memos)-1]
}
