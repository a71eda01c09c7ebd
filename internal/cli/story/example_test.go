package story_test

import (
	"fmt"
	"os"

	"go.temporal.io/sdk/client"

	"github.com/durabot/durabot/internal/cli/story"
)

// An update whose first call Telegram refused: the second went with it, the
// third was independent.
func ExampleOf() {
	file, err := os.Open("testdata/rejected.json")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer file.Close()
	history, err := client.HistoryFromJSON(file, client.HistoryJSONOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}
	s, err := story.Of(story.Source{Events: history.GetEvents()})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(s.Kind, s.Status, s.Outcome, s.Reason)
	for _, c := range s.Calls {
		fmt.Println(c.Method, c.Outcome, c.Attempts)
	}
	// Output:
	// message failed dead rejected
	// sendMessage dead 1
	// sendMessage dead 0
	// sendMessage delivered 1
}
