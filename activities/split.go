package activities

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.temporal.io/sdk/temporal"

	"github.com/durabot/durabot/internal/contract"
	"github.com/durabot/durabot/internal/text"
)

// Split cuts a call whose text is too long for one message into calls that make
// one message each, in their order. They keep the call's class, policy, TTL and
// fallback; its key, its time and its independence are those of the whole. A call
// that cannot be cut ends in a Rejected error, which quotes no text.
//
// It reads nothing but the call: run twice, it gives the same.
func Split(_ context.Context, call contract.Call) (contract.SplitResult, error) {
	res, err := split(call)
	if err != nil {
		return contract.SplitResult{}, temporal.NewApplicationErrorWithOptions(err.Error(), contract.FailureRejected,
			temporal.ApplicationErrorOptions{NonRetryable: true, Category: temporal.ApplicationErrorCategoryBenign})
	}
	return res, nil
}

// CheckSplit returns why a call that wants to be cut, and is sealed, cannot be, nil
// if it can or does not want to: whoever accepts a call can refuse it at once.
func CheckSplit(call contract.Call) error {
	if !call.Split {
		return nil
	}
	if _, err := split(call); err != nil {
		return fmt.Errorf("call %s: %w", call.Method, err)
	}
	return nil
}

func split(call contract.Call) (contract.SplitResult, error) {
	params, err := call.Object()
	if err != nil {
		return contract.SplitResult{}, fmt.Errorf("params: %w", err)
	}
	var res contract.SplitResult
	pieces, err := text.Split(call.Method, params)
	if errors.Is(err, text.ErrMarkup) && call.PlainFallback {
		params, res.Degraded = plain(params)
		pieces, err = text.Split(call.Method, params)
	}
	if err != nil {
		return contract.SplitResult{}, err
	}
	for _, piece := range pieces {
		part := call
		part.Method, part.Params = piece.Method, piece.Params
		part.Key, part.At, part.Independent, part.Split = "", time.Time{}, false, false
		res.Calls = append(res.Calls, part)
	}
	return res, nil
}
