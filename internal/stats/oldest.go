package stats

import (
	"context"
	"math"
	"time"

	"go.temporal.io/api/workflowservice/v1"
)

// listMost is how many are listed rather than counted: a list tells the exact age.
const listMost = 100

// An age is searched for on a scale of steps: of 3 s in the first hour, and from
// there each 0.19 % longer than the one before. So the middle of a step is off by
// at most 1.5 s, or 0.1 %.
const (
	stepTime   = 3 * time.Second
	stepGrowth = 0.0019
	evenSteps  = int(time.Hour / stepTime)
)

// milestones are tried first, because what waits has mostly waited for seconds:
// 48 s, 14 min, 8 h, and 2 years, which nothing exceeds. What lies between two of
// them is a power of two, so that 14 counts find every age up to 8 h, and a longer
// one to within two steps. Each request that broadcasts need beyond their first
// doubles what the longest searches are off by.
var milestones = [...]int{16, 16 + 256, 16 + 256 + 2048}

const lastStep = 16 + 256 + 2048 + 4096

// ageOf is the age at which a step begins.
func ageOf(step int) time.Duration {
	if step <= evenSteps {
		return time.Duration(step) * stepTime
	}
	return time.Duration(float64(time.Hour) * math.Exp(float64(step-evenSteps)*stepGrowth))
}

// search looks for the age of the oldest that waits.
type search struct {
	asker
	now time.Time
	// At least one is older than step young, and none than step old.
	young, old int
	// spare is how many requests are left.
	spare int
}

// oldest is how long the oldest of those that wait has waited. There are depth of
// them, more than none. It takes at most so many requests, which are enough for the
// milestones.
func (a asker) oldest(ctx context.Context, now time.Time, depth int64, requests int) (time.Duration, error) {
	s := search{asker: a, now: now, old: lastStep, spare: requests}
	if depth <= listMost {
		return s.listed(ctx)
	}
	for _, step := range milestones {
		if few, err := s.try(ctx, step); few || err != nil {
			return s.end(ctx, few, err)
		}
		if s.old == step {
			break
		}
	}
	for s.old-s.young > 1 && s.spare > 0 {
		if few, err := s.try(ctx, (s.young+s.old)/2); few || err != nil {
			return s.end(ctx, few, err)
		}
	}
	return (ageOf(s.young) + ageOf(s.old)) / 2, nil
}

func (s *search) end(ctx context.Context, few bool, err error) (time.Duration, error) {
	if few {
		return s.listed(ctx)
	}
	return 0, err
}

// try counts those older than a step, and reports whether they are few enough to
// be listed; where one count more is as good as a list, they are not.
func (s *search) try(ctx context.Context, step int) (few bool, err error) {
	s.spare--
	n, err := s.count(ctx, s.waitingSince(s.now.Add(-ageOf(step)), s.now))
	switch {
	case err != nil:
		return false, err
	case n == 0:
		s.old = step
	default:
		s.young = step
	}
	return n > 0 && n <= listMost && s.old-s.young > 1 && s.spare > 0, nil
}

// listed is the greatest age of those older than step young. They may all have
// ended since they were counted.
func (s *search) listed(ctx context.Context) (time.Duration, error) {
	res, err := s.client.ListWorkflow(ctx, &workflowservice.ListWorkflowExecutionsRequest{
		Namespace: s.namespace, PageSize: 10 * listMost, Query: s.waitingSince(s.now.Add(-ageOf(s.young)), s.now),
	})
	if err != nil {
		return 0, err
	}
	oldest := ageOf(s.young)
	for _, info := range res.GetExecutions() {
		oldest = max(oldest, s.now.Sub(info.GetExecutionTime().AsTime()))
	}
	return oldest, nil
}
