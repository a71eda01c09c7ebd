package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"

	"github.com/durabot/durabot/internal/devserver"
)

func main() {
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt)
	path, err := devserver.Find(ctx, devserver.FindOptions{Progress: os.Stderr})
	cancel()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println(path)
}
