// Withpostgres runs a command with a PostgreSQL server at hand.
//
// Usage:
//
//	go run ./internal/pgtest/withpostgres command [argument ...]
//
// It starts a private server, names it to the command in RESTAQ_TEST_POSTGRES,
// and stops it when the command has ended. If the variable is set already, the
// command runs with the server that it names.
//
// Standard input, output and error are the command's. Its exit code is the
// command's; 1 if it was ended by a signal or there is no server, 2 for a wrong
// call.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"syscall"

	"github.com/restaq/restaq/internal/pgtest"
)

func main() {
	if len(os.Args) < 2 {
		fmt.Fprintln(os.Stderr, "usage: withpostgres command [argument ...]")
		os.Exit(2)
	}
	code, err := run(os.Args[1:])
	if err != nil {
		fmt.Fprintln(os.Stderr, "withpostgres:", err)
	}
	os.Exit(code)
}

// run runs the command and returns its exit code.
func run(command []string) (code int, err error) {
	// A terminal's interrupt goes to the command too, which ends by it; this
	// process stays to stop the server.
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)

	address := os.Getenv(pgtest.Env)
	if address == "" {
		server, startErr := pgtest.Start(context.Background(), pgtest.Config{})
		if startErr != nil {
			return 1, startErr
		}
		defer func() {
			if stopErr := server.Stop(); stopErr != nil {
				code, err = 1, errors.Join(err, stopErr)
			}
		}()
		address = server.URL()
	}
	return runWith(address, command, signals)
}

// runWith runs the command with the server at address and returns its exit
// code. It hands a request to terminate on.
func runWith(address string, command []string, signals <-chan os.Signal) (int, error) {
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.Env = append(os.Environ(), pgtest.Env+"="+address)
	if err := cmd.Start(); err != nil {
		return 1, err
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	for {
		select {
		case s := <-signals:
			if s == syscall.SIGTERM {
				_ = cmd.Process.Signal(s) // it may have ended this moment
			}
		case err := <-ended:
			var exit *exec.ExitError
			if errors.As(err, &exit) && exit.Exited() {
				return exit.ExitCode(), nil
			}
			if err != nil {
				return 1, err
			}
			return 0, nil
		}
	}
}
