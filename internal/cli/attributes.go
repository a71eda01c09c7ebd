package cli

import (
	"context"
	"fmt"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/operatorservice/v1"

	"github.com/durabot/durabot/internal/contract"
)

// attributes lists which of our search attributes the namespace lacks, and which
// it has under another type: a start that names such a one is refused.
func (s *frontend) attributes(ctx context.Context) (missing, wrong []string, err error) {
	ctx, cancel := context.WithTimeout(ctx, temporalCall)
	defer cancel()
	res, err := s.OperatorService().ListSearchAttributes(ctx, &operatorservice.ListSearchAttributesRequest{
		Namespace: s.options.Namespace,
	})
	if err != nil {
		return nil, nil, err
	}
	for _, name := range contract.SearchAttributes() {
		kind, ok := res.GetCustomAttributes()[name]
		switch {
		case !ok:
			missing = append(missing, name)
		case kind != enumspb.INDEXED_VALUE_TYPE_KEYWORD:
			wrong = append(wrong, fmt.Sprintf("search attribute %s is of type %s, want Keyword", name, kind))
		}
	}
	return missing, wrong, nil
}
