package cli

import (
	"net"
	"net/url"
	"strconv"
	"strings"

	"github.com/spf13/pflag"
)

// cloudUI is Temporal Cloud's, whose servers are below cloudHost.
const (
	cloudUI   = "https://cloud.temporal.io"
	cloudHost = ".tmprl.cloud"
	apiHost   = ".temporal.io"
)

// showFlags are those of the verbs that show one thing.
type showFlags struct {
	ui      string
	payload bool
}

// register adds them; payload says what there is to show of what people wrote.
func (f *showFlags) register(flags *pflag.FlagSet, payload string) {
	flags.StringVar(&f.ui, "ui", "", "address of the Temporal UI to link to (default: that of a local server, or Temporal Cloud's)")
	flags.BoolVar(&f.payload, "payload", false, payload)
}

// page is a workflow's page in the Temporal UI, "" when nobody said where the UI
// is and the server is neither local nor Temporal Cloud's.
func (s *frontend) page(ui, workflowID string) string {
	if ui == "" {
		ui = defaultUI(s.options.HostPort)
	}
	if ui == "" {
		return ""
	}
	return strings.TrimSuffix(ui, "/") + "/namespaces/" + url.PathEscape(s.options.Namespace) + "/workflows/" + url.PathEscape(workflowID)
}

// defaultUI is where a server at this address has its UI. A local one has it
// 1000 ports above its own: 8233 for 7233.
func defaultUI(hostPort string) string {
	host, port, err := net.SplitHostPort(hostPort)
	if err != nil {
		return ""
	}
	ip := net.ParseIP(host)
	switch {
	case strings.HasSuffix(host, cloudHost), strings.HasSuffix(host, apiHost):
		return cloudUI
	case host == "localhost", ip != nil && ip.IsLoopback():
		n, err := strconv.Atoi(port)
		if err != nil {
			return ""
		}
		return "http://" + net.JoinHostPort(host, strconv.Itoa(n+uiOffset))
	default:
		return ""
	}
}
