package broadcast

import (
	"context"
	"errors"

	"github.com/durabot/durabot/internal/contract"
)

// Recipients are those of a broadcast by their chats, as it was started, and what
// they get. Its error may be ErrNone or ErrHalfStarted.
func Recipients(ctx context.Context, c Client, bot int64, name string) (contract.BroadcastCall, map[string]contract.Recipient, error) {
	var what contract.BroadcastCall
	in, err := input[contract.BroadcastInput](ctx, c, contract.BroadcastID(bot, name))
	if errors.Is(err, ErrNone) {
		return what, nil, missing(ctx, c, bot, name)
	}
	if err != nil {
		return what, nil, err
	}
	all := map[string]contract.Recipient{}
	for i := range in.Sizes {
		id := contract.PartID(bot, name, i+1)
		part, err := firstInput[contract.PartInput](ctx, c, id)
		if err != nil {
			return what, nil, forgotten(id, err)
		}
		what = part.What
		for _, a := range part.Recipients {
			all[a.Chat] = a.Recipient
		}
	}
	return what, all, nil
}
