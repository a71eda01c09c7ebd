package telegramsim

import "slices"

// maxRecent is how many confirmed updates Redeliver can find.
const maxRecent = 1000

func bySerial(item queued, serial int64) int { return int(item.serial - serial) }

// number gives serials to updates that were read from a file.
func (q *queue) number() {
	for _, list := range [][]queued{q.items, q.strays} {
		for i := range list {
			list[i].serial = q.serial
			q.serial++
		}
	}
}

// from lists at most so many updates from a serial on, in the order they came.
func (q *queue) from(serial int64, most int) []queued {
	i, _ := slices.BinarySearchFunc(q.items, serial, bySerial)
	j, _ := slices.BinarySearchFunc(q.strays, serial, bySerial)
	items, strays := q.items[i:], q.strays[j:]
	var list []queued
	for len(list) < most && len(items)+len(strays) > 0 {
		if len(strays) == 0 || (len(items) > 0 && items[0].serial < strays[0].serial) {
			list, items = append(list, items[0]), items[1:]
			continue
		}
		list, strays = append(list, strays[0]), strays[1:]
	}
	return list
}

// find is an update that is queued or was confirmed by a webhook not long ago, nil
// when it is neither. The pointer is good until the queue changes.
func (q *queue) find(serial int64) *queued {
	for _, list := range [][]queued{q.items, q.strays} {
		if i, found := slices.BinarySearchFunc(list, serial, bySerial); found {
			return &list[i]
		}
	}
	return lastOf(q.recent, func(item queued) bool { return item.serial == serial })
}

// findID is find by update id: of several under one id a queued one, else the one
// confirmed last.
func (q *queue) findID(id int64) *queued {
	same := func(item queued) bool { return item.ID == id }
	for _, list := range [][]queued{q.items, q.strays, q.recent} {
		if item := lastOf(list, same); item != nil {
			return item
		}
	}
	return nil
}

func lastOf(list []queued, match func(queued) bool) *queued {
	for i := range slices.Backward(list) {
		if match(list[i]) {
			return &list[i]
		}
	}
	return nil
}

// confirm takes one update out as delivered, wherever it stands: a webhook confirms
// out of order.
func (q *queue) confirm(serial int64) {
	item := q.find(serial)
	if item == nil {
		return
	}
	q.recent = append(q.recent, *item)
	q.recent = q.recent[max(0, len(q.recent)-maxRecent):]
	q.remove(serial)
	q.confirmed = max(q.confirmed, q.head())
}

// remove takes one update out. It moves what stands before it rather than what
// stands behind: deliveries take from near the head of a queue that may be long.
func (q *queue) remove(serial int64) {
	if i, found := slices.BinarySearchFunc(q.items, serial, bySerial); found {
		copy(q.items[1:i+1], q.items[:i])
		q.items = q.items[1:]
		return
	}
	q.strays = slices.DeleteFunc(q.strays, func(item queued) bool { return item.serial == serial })
}
