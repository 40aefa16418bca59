// Package mail is called by handlers of another package.
package mail

import (
	"context"
	"net/http"
	"net/smtp"
)

type Mailer struct{ client *http.Client }

func (m *Mailer) Send(ctx context.Context, to string) error { // want Send:`Mailer.deliver → smtp.SendMail`
	return m.deliver(to)
}

func (m *Mailer) deliver(to string) error { // want deliver:`smtp\.SendMail`
	return smtp.SendMail("localhost:25", nil, "a", []string{to}, nil)
}

// Address is pure.
func Address(name string) string { return name + "@example.com" }

//restaq:step
func Announce(ctx context.Context, to string) error { // want Announce:`http\.Get`
	_, err := http.Get(to)
	return err
}
