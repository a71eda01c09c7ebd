package devserver

import (
	"context"
	"errors"
	"fmt"
	"net"
	"syscall"
)

// ErrPortInUse says that something else listens on a port the server needs.
// Nothing was started. The error that wraps it names the port and the flag that
// changes it.
var ErrPortInUse = errors.New("port is in use")

// claimPorts picks a frontend port when none is given and checks that the given
// ones are free, so that a taken port is told in one line before anything runs.
func (o Options) claimPorts(ctx context.Context) (Options, error) {
	port, err := probePort(ctx, o.address())
	if err != nil {
		return o, fmt.Errorf("listen on %s for the Temporal server: %w: stop what uses it, "+
			"or choose another with --temporal-port", o.address(), err)
	}
	o.Port = port
	if o.UIPort == 0 {
		return o, nil
	}
	if _, err := probePort(ctx, o.uiAddress()); err != nil {
		return o, fmt.Errorf("listen on %s for the Temporal UI: %w: stop what uses it, "+
			"or choose other ports with --temporal-port", o.uiAddress(), err)
	}
	return o, nil
}

// probePort listens for a moment and returns the port it got. Another process
// may take it before the server does; then the server's own message is shown.
func probePort(ctx context.Context, address string) (int, error) {
	var config net.ListenConfig
	listener, err := config.Listen(ctx, "tcp", address)
	if errors.Is(err, syscall.EADDRINUSE) {
		return 0, ErrPortInUse
	}
	if err != nil {
		return 0, err
	}
	port := listener.Addr().(*net.TCPAddr).Port
	return port, listener.Close()
}
