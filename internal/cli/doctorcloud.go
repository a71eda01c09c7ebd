package cli

import (
	"fmt"
	"net"
	"strings"
	"time"

	"go.temporal.io/sdk/client"

	"github.com/durabot/durabot/internal/config"
)

const (
	// soonOver is when credentials should be renewed: Temporal Cloud writes to an
	// account's administrators 30, 20 and 10 days before a key ends
	// (docs.temporal.io/cloud/api-keys).
	soonOver = 14 * day
	// cloudActions is how many Actions a second a namespace of Temporal Cloud takes
	// at first (docs.temporal.io/cloud/limits).
	cloudActions = 500
	// replyActions is how many an update with one reply costs, as
	// `go run ./e2e/bench -only actions` counts them.
	replyActions = 5
)

// settingChecks are the names of what is looked at before Temporal is asked.
var settingChecks = []string{"credentials", "temporal_cloud"}

// examineSettings looks at what the bot would show to Temporal.
func (d *doctor) examineSettings() {
	options, err := d.Env.Temporal()
	var c config.Credentials
	if err == nil {
		c, err = d.Env.Credentials(options)
	}
	if err != nil {
		d.skip("Temporal's settings cannot be read", settingChecks...)
		return
	}
	d.examineCredentials(c, time.Now())
	d.examineCloud(options, c)
}

// examineCredentials: a bot whose credentials have ended stands still.
func (d *doctor) examineCredentials(c config.Credentials, now time.Time) {
	const do = "make new ones, then restart one process after the other with them"
	switch {
	case c.Kind == "":
		d.find("credentials", levelOK, "none", "")
	case c.Until.IsZero():
		d.find("credentials", levelOK, c.Kind+"; it does not say until when", "")
	case !now.Before(c.Until):
		d.find("credentials", levelProblem, c.Kind+", which ended on "+c.Until.Format(time.DateOnly), do)
	case c.Until.Sub(now) < soonOver:
		d.find("credentials", levelWarning, c.Kind+", which ends on "+c.Until.Format(time.DateOnly), do)
	default:
		d.find("credentials", levelOK, c.Kind+", until "+c.Until.Format(time.DateOnly), "")
	}
}

// examineCloud looks at what Temporal Cloud wants and other servers do not.
func (d *doctor) examineCloud(o client.Options, c config.Credentials) {
	const name = "temporal_cloud"
	need := d.settings.GlobalPerSecond * replyActions
	pace := fmt.Sprintf("%v replies a second need about %.0f Actions a second; a namespace begins with %d", d.settings.GlobalPerSecond, need, cloudActions)
	switch {
	case !isCloud(o.HostPort):
		d.find(name, levelOK, "not used", "")
	case c.Kind == "":
		d.find(name, levelProblem, "no credentials, and it takes nobody without",
			"set TEMPORAL_API_KEY, or TEMPORAL_TLS_CLIENT_CERT_PATH and TEMPORAL_TLS_CLIENT_KEY_PATH")
	case !strings.Contains(o.Namespace, "."):
		d.find(name, levelProblem, fmt.Sprintf("TEMPORAL_NAMESPACE: want NAME.ACCOUNT, got %q", o.Namespace), "copy it from the namespace's page in the Cloud UI")
	case need > cloudActions:
		d.find(name, levelWarning, pace, "ask for more capacity, or lower --global-per-second")
	case d.settings.GlobalPerSecond == 0:
		d.find(name, levelWarning, fmt.Sprintf("--global-per-second is off; a namespace begins with %d Actions a second, and a reply needs about %d", cloudActions, replyActions),
			"ask for more capacity, or set it")
	default:
		d.find(name, levelOK, pace, "")
	}
}

// isCloud reports whether an address is one of Temporal Cloud's: a namespace's or
// a region's (docs.temporal.io/cloud/namespaces).
func isCloud(address string) bool {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		host = address
	}
	return strings.HasSuffix(host, ".tmprl.cloud") || strings.HasSuffix(host, ".api.temporal.io")
}
