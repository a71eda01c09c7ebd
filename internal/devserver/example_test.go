package devserver_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/durabot/durabot/internal/devserver"
)

// A program finds or builds the binary, starts a server whose data survives, and
// stops it when it ends, whether or not the server ended first.
func ExampleStart() {
	run := func(ctx context.Context, dir string) error {
		path, err := devserver.Find(ctx, devserver.FindOptions{Progress: os.Stderr})
		if err != nil {
			return err
		}
		server, err := devserver.Start(ctx, devserver.Options{
			Path:    path,
			Port:    7233,
			UIPort:  8233,
			DBFile:  filepath.Join(dir, "temporal.db"),
			LogFile: filepath.Join(dir, "temporal.log"),
		})
		if err != nil {
			return err
		}
		defer server.Stop()
		fmt.Println(server.Addr(), server.UIURL())
		select {
		case err := <-server.Done():
			return err
		case <-ctx.Done():
			return nil
		}
	}
	_ = run
}
