package layout_test

// module is the import path of the root package.
const module = "github.com/durabot/durabot"

// Our own packages are written relative to the module, "./starter", as the go
// command takes them; root is the module's own package.
const root = "."

// row says what the packages at and below path may import of ours. Of two paths
// that fit, the longer one counts; packages of one row may import each other.
type row struct {
	path    string
	allowed []string // "*" is everything that no ban forbids
	reason  string   // why nothing else is allowed
}

// table is the one-way flow of durabot: what Telegram sends enters by starter,
// is decided in workflows and leaves through activities; worker puts the parts
// together.
var table = []row{
	{root, []string{"*"}, "the author's door assembles everything"},
	{"./cmd/durabot", []string{root}, "the program is one call of the author's door, so that an author's program can do all it can"},
	{"./e2e", []string{"*"}, "tests of the whole may use the whole"},
	{"./examples", []string{root}, "an example shows what an author can reach"},
	{"./tools", []string{"./internal/devserver"}, "tools prepare the build and must not depend on what is built"},

	{"./starter", []string{"./internal/contract", "./internal/telegram", "./internal/text"}, "intake knows workflows by their names only"},
	{"./workflows", []string{"./internal/contract", "./activities"}, "a workflow decides; whatever touches the world is an activity, known by its method name"},
	{"./activities", []string{"./internal/contract", "./internal/telegram", "./internal/text"}, "a side effect knows neither who asked for it nor what follows"},
	{"./worker", []string{"./internal/contract", "./starter", "./workflows", "./activities", "./internal/telegram", "./internal/telemetry", "./internal/stats", "./worker/limiter"}, "assembly serves the command line and must not know it"},
	{"./worker/limiter", nil, "the budget is arithmetic on time, tested without anything else"},

	{"./internal/contract", nil, "what is recorded in histories must not change with another package"},
	{"./internal/telegram", nil, "the only package that knows the token owes nothing to the rest"},
	{"./internal/broadcast", []string{"./internal/contract"}, "broadcasts are looked at by what Temporal holds, so that everybody sees the same"},
	{"./internal/stats", []string{"./internal/contract", "./starter", "./internal/broadcast"}, "the numbers are asked of Temporal alone, so that everybody shows the same"},
	{"./internal/text", nil, "what Telegram counts is arithmetic on text, tested without anything else"},
	{"./internal/telegramsim", nil, "a simulator that shares our code shares our mistakes"},
	{"./internal/devserver", nil, "it must be buildable before anything else"},
	{"./internal/layout", nil, "it reads the other packages, it does not use them"},
	{"./internal/cli", []string{"*"}, "the verbs are assembly too"},
	{"./internal/config", []string{"*"}, "settings describe every part"},
	{"./internal/telemetry", []string{"*"}, "telemetry describes every part"},
}

// ban forbids what a "*" would allow.
type ban struct {
	path   string   // the import, ours when relative, with everything below it
	except []string // the rows that may
	tests  bool     // test files are bound too
	reason string
}

// bans hold beside the table, for every row that they do not except.
var bans = []ban{
	{"./cmd", nil, true, "a program is not a library"},
	{"./e2e", nil, true, "tests of the whole are nobody's part"},
	{
		"./internal/telegram",
		// internal/config reads the token straight into the type that redacts it.
		[]string{root, "./starter", "./activities", "./worker", "./internal/cli", "./internal/config", "./e2e"},
		false, "who talks to Telegram must be countable, and the token must stay where it is known",
	},
	{
		"github.com/go-resty/resty/v2",
		[]string{"./internal/telegram"},
		false, "a second HTTP client for Telegram would be a second place that knows the token",
	},
	{
		"./internal/telegramsim",
		[]string{root, "./internal/cli", "./e2e"},
		false, "the simulator is part of `durabot dev` and of tests, never of a running bot",
	},
}

// testOnly are the packages that every test file may import beside its row's.
var testOnly = []string{"./internal/telegramsim", "./internal/devserver", "./internal/devserver/devtest"}
