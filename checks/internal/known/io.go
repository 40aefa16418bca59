package known

import (
	"go/types"
	"path"
	"strings"

	"github.com/restaq/restaq/checks/internal/marked"
)

// effects are functions that reach out of the process.
var effects = table{
	"net":             "Dial* Listen* Lookup* Resolve* Interface* Dialer.* Resolver.* ListenConfig.* *Conn.Read* *Conn.Write* *Conn.Close *Listener.Accept* Buffers.WriteTo",
	"crypto/tls":      "Dial* Listen* Dialer.* Conn.Read Conn.Write Conn.Handshake*",
	"net/http":        "Get Head Post PostForm ListenAndServe* Serve ServeTLS Client.Do Client.Get Client.Head Client.Post* Transport.RoundTrip RoundTripper.RoundTrip Server.ListenAndServe* Server.Serve*",
	"net/rpc":         "Dial* Client.Call Client.Go",
	"net/rpc/jsonrpc": "Dial*",
	"net/smtp":        "Dial SendMail Client.*",
	"net/textproto":   "Dial Conn.*",
	"database/sql":    "DB.Begin* DB.Conn DB.Exec* DB.Ping* DB.Prepare* DB.Query* Conn.Begin* Conn.Exec* Conn.Ping* Conn.Prepare* Conn.Query* Tx.* Stmt.Exec* Stmt.Query* Row.Scan Rows.Next*",
	"os": "Chdir Chmod Chown Chtimes CopyFS Create CreateTemp Lchown Link Lstat Mkdir* Open OpenFile OpenInRoot OpenRoot Pipe ReadDir ReadFile Readlink Remove RemoveAll Rename StartProcess Stat Symlink Truncate WriteFile " +
		"File.Ch* File.Read* File.Seek File.Stat File.Sync File.Truncate File.Write* Process.* Root.*",
	"os/exec":       "LookPath Cmd.CombinedOutput Cmd.Output Cmd.Run Cmd.Start Cmd.Wait",
	"os/user":       "Current Lookup*",
	"io/ioutil":     "ReadDir ReadFile TempDir TempFile WriteFile",
	"path/filepath": "EvalSymlinks Glob Walk WalkDir",
	"archive/zip":   "OpenReader",
	"html/template": "ParseFiles ParseGlob Template.ParseFiles Template.ParseGlob",
	"text/template": "ParseFiles ParseGlob Template.ParseFiles Template.ParseGlob",
	"plugin":        "Open",

	"github.com/jackc/pgx/...": "Begin* Collect* Connect* ForEachRow New NewWithConfig AcquireFunc " +
		"Conn.Begin* Conn.Close Conn.CopyFrom Conn.Deallocate* Conn.Exec Conn.Load* Conn.Ping Conn.Prepare Conn.Query* Conn.SendBatch Conn.WaitForNotification " +
		"Pool.Acquire* Pool.Begin* Pool.CopyFrom Pool.Exec Pool.Ping Pool.Query* Pool.SendBatch PgConn.* Tx.Begin* Tx.Commit Tx.CopyFrom Tx.Exec Tx.Prepare Tx.Query* Tx.Rollback Tx.SendBatch " +
		"BatchResults.* LargeObject*.* Row.Scan Rows.Next",
	"github.com/lib/pq/...":         "CopyIn Listener.* NewListener Open",
	"github.com/jmoiron/sqlx/...":   "Connect* Get* Select* MustExec* NamedExec* NamedQuery* DB.* Tx.* Conn.* Stmt.* NamedStmt.*",
	"gorm.io/gorm/...":              "Open DB.*",
	"github.com/uptrace/bun/...":    "DB.* Tx.* *Query.Exec *Query.Scan* *Query.Count *Query.Exists",
	"github.com/gorilla/websocket":  "Dialer.* Conn.Read* Conn.Write*",
	"github.com/fsnotify/fsnotify":  "*",
	"golang.org/x/crypto/ssh/...":   "Dial Client.* Session.*",
	"github.com/go-resty/resty/...": "Request.Delete Request.Execute Request.Get Request.Head Request.Patch Request.Post Request.Put Request.Send",
}

// clients are packages whose functions speak to a service if they can fail or be
// cancelled, constructors aside.
var clients = []string{
	"github.com/stripe/stripe-go", "github.com/google/go-github", "github.com/slack-go/slack", "github.com/bwmarrin/discordgo",
	"github.com/go-telegram-bot-api/telegram-bot-api", "gopkg.in/telebot.v3", "gopkg.in/telebot.v4", "github.com/xanzy/go-gitlab",
	"gitlab.com/gitlab-org/api/client-go", "code.gitea.io/sdk", "github.com/andygrunwald/go-jira",
	"github.com/aws/aws-sdk-go", "github.com/aws/aws-sdk-go-v2/service", "cloud.google.com/go", "google.golang.org/api", "github.com/Azure/azure-sdk-for-go",
	"github.com/cloudflare/cloudflare-go", "github.com/digitalocean/godo", "k8s.io/client-go", "github.com/docker/docker/client", "github.com/moby/moby/client",
	"github.com/redis", "github.com/go-redis/redis", "github.com/gomodule/redigo", "go.mongodb.org/mongo-driver", "github.com/elastic/go-elasticsearch",
	"github.com/opensearch-project/opensearch-go", "github.com/segmentio/kafka-go", "github.com/IBM/sarama", "github.com/twmb/franz-go",
	"github.com/nats-io/nats.go", "github.com/rabbitmq/amqp091-go", "github.com/twilio/twilio-go", "github.com/sendgrid/sendgrid-go",
	"github.com/mailgun/mailgun-go", "github.com/resend/resend-go", "github.com/wneessen/go-mail", "gopkg.in/gomail.v2",
	"github.com/minio/minio-go", "github.com/meilisearch/meilisearch-go", "github.com/algolia/algoliasearch-client-go",
	"github.com/sashabaranov/go-openai", "github.com/openai/openai-go", "github.com/anthropics/anthropic-sdk-go",
	"github.com/plaid/plaid-go", "github.com/braintree-go/braintree-go", "github.com/adyen/adyen-go-api-library", "github.com/hashicorp/vault/api",
}

// offline are the beginnings of the names of functions in clients that do not
// speak to the service.
var offline = []string{"New", "With", "Parse", "Validate", "Verify", "Construct", "Default", "Load", "Marshal", "Unmarshal", "String", "Is", "Format", "Error"}

// Effect reports whether a function reaches out of the process: to the network, a
// database, the file system, another program.
func Effect(fn *types.Func) bool {
	if fn == nil || fn.Pkg() == nil || Telemetry(fn) {
		return false
	}
	return effects.has(fn) || roundTrips(fn.Signature()) || callsGRPC(fn.Signature()) || client(fn)
}

// roundTrips reports whether a function takes an HTTP request and returns the
// response, as an *http.Client does and what stands in for one.
func roundTrips(sig *types.Signature) bool {
	const http = "net/http"
	return sig.Recv() != nil && sig.Params().Len() == 1 && sig.Results().Len() == 2 &&
		pointsTo(sig.Params().At(0).Type(), http, "Request") && pointsTo(sig.Results().At(0).Type(), http, "Response")
}

func pointsTo(t types.Type, path, name string) bool {
	pointer, ok := types.Unalias(t).(*types.Pointer)
	return ok && marked.IsNamed(pointer.Elem(), path, name)
}

// callsGRPC reports whether a function takes the options of a gRPC call.
func callsGRPC(sig *types.Signature) bool {
	if !sig.Variadic() || sig.Recv() == nil {
		return false
	}
	slice, ok := sig.Params().At(sig.Params().Len() - 1).Type().(*types.Slice)
	return ok && marked.IsNamed(slice.Elem(), "google.golang.org/grpc", "CallOption")
}

// client reports whether a function of a known client speaks to its service.
func client(fn *types.Func) bool {
	importPath := fn.Pkg().Path()
	known := false
	for _, c := range clients {
		if importPath == c || strings.HasPrefix(importPath, c+"/") {
			known = true
		}
	}
	for _, word := range offline {
		known = known && !strings.HasPrefix(fn.Name(), word)
	}
	if !known || path.Base(importPath) == "webhook" {
		return false
	}
	sig := fn.Signature()
	for v := range sig.Params().Variables() {
		if marked.IsNamed(v.Type(), "context", "Context") {
			return true
		}
	}
	results := sig.Results()
	return results.Len() > 0 && types.Identical(types.Unalias(results.At(results.Len()-1).Type()), types.Universe.Lookup("error").Type())
}
