package shop

import (
	"context"
	"database/sql"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"

	"example.com/mail"
	"example.com/metrics"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	restaq "github.com/restaq/restaq/runtime"
)

type Shop struct {
	client *http.Client
	doer   Doer
	db     *sql.DB
	pool   *pgxpool.Pool
	tx     pgx.Tx
	mailer *mail.Mailer
	sender Sender
	count  func() error
}

type Doer interface {
	Do(*http.Request) (*http.Response, error)
}

// A Sender is known by its methods alone, and who knows what they do.
type Sender interface{ Send(context.Context) error }

//restaq:on acme.order.paid
func (s *Shop) Paid(ctx context.Context, event restaq.Event) error { // want Paid:`http.Client.Do`
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://localhost", nil) // nothing is sent yet
	if err != nil {
		return err
	}
	_, _ = s.client.Do(request)                     // want `^handler shop.Shop.Paid: does I/O outside a step, which every attempt repeats: Shop.Paid → http.Client.Do \(sideeffect\)\n\thint: do it in a function marked //restaq:step, and call its wrapper; or in restaq.Do$`
	_, _ = s.doer.Do(request)                       // want `Shop.Paid → shop.Doer.Do \(`
	_, _ = http.Get("http://localhost")             // want `→ http.Get \(`
	_, _ = s.db.ExecContext(ctx, "delete from t")   // want `→ sql.DB.ExecContext \(`
	_, _ = s.pool.Exec(ctx, "delete from t")        // want `→ pgxpool.Pool.Exec \(`
	_ = s.tx.Commit(ctx)                            // want `→ pgx.Tx.Commit \(`
	_, _ = os.ReadFile("price.txt")                 // want `→ os.ReadFile \(`
	_ = exec.Command("ls").Run()                    // want `→ exec.Cmd.Run \(`
	_, _ = net.Dial("tcp", "localhost:1")           // want `→ net.Dial \(`
	_ = filepath.Join("a", "b")                     // pure
	_ = net.ParseIP("::1")                          // pure
	_, _ = url.Parse("http://localhost")            // pure
	_, _ = net.LookupHost(mail.Address("someone"))  // want `→ net.LookupHost \(`
	if err := s.mailer.Send(ctx, "a"); err != nil { // want `Shop.Paid → mail.Mailer.Send → Mailer.deliver → smtp.SendMail \(`
		return err
	}
	if err := s.notify(ctx, "a"); err != nil { // want `Shop.Paid → Shop.notify → Shop.post → http.Client.Do \(sideeffect\)\n\thint: make it a step: mark Shop.notify with //restaq:step, and call notifyStep$`
		return err
	}
	func() {
		s.post("a") // want `Shop.Paid → Shop.post → http.Client.Do \(sideeffect\)\n\thint: do it in`
	}()
	fetch := s.post // want `Shop.post`
	fetch("b")
	restaq.Logger(ctx).Info("paid")
	slog.Info("paid")
	fmt.Println("paid")
	fmt.Fprintln(os.Stderr, "paid")
	_, _ = os.Stderr.WriteString("paid\n")
	_, _ = io.WriteString(os.Stdout, "paid\n")
	metrics.Push("paid")
	_ = s.sender.Send(ctx)
	_ = s.count()
	if _, err := restaq.Do(ctx, "read", func(ctx context.Context) ([]byte, error) { return os.ReadFile("price.txt") }); err != nil {
		return err
	}
	if err := mail.AnnounceStep(ctx, "http://localhost"); err != nil {
		return err
	}
	//restaq:ignore sideeffect the file is part of the image
	if _, err := os.Stat("price.txt"); err != nil {
		return err
	}
	return s.chargeStep(ctx)
}

func (s *Shop) notify(ctx context.Context, to string) error { // want notify:`Shop.post → http.Client.Do`
	s.post(to)
	return nil
}

func (s *Shop) post(to string) { // want post:`http.Client.Do`
	request, _ := http.NewRequest(http.MethodPost, to, nil)
	_, _ = s.client.Do(request)
}

//restaq:step
func (s *Shop) charge(ctx context.Context) error { // want charge:`Shop.post`
	s.post("a")
	return nil
}
