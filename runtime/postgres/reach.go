package postgres

import (
	"context"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// How long the other side may be out of reach before a connection is given up,
// on both sides. The default lease is three times as long, so that whatever a
// process that was cut off has locked is free again before its lease runs out.
const (
	deadAfter = 10 * time.Second

	// dialLimit bounds the making of a connection. The URL's connect_timeout
	// goes before it.
	dialLimit = 5 * time.Second

	// A connection on which nothing is said is probed after a while, some times
	// over: deadAfter in all.
	probeIdle  = 4 * time.Second
	probeEvery = 2 * time.Second
	probes     = 3
)

// dialer makes connections that notice when the other side is out of reach.
var dialer = net.Dialer{
	KeepAliveConfig: net.KeepAliveConfig{Enable: true, Idle: probeIdle, Interval: probeEvery, Count: probes},
	Control:         boundSilence,
}

// A setting is one of the server's, for a session.
type setting struct{ name, value string }

// sessionSettings end a session whose client is out of reach, or has stopped
// in the middle of a transaction. A step's transaction sets its own limits.
var sessionSettings = []setting{
	{"tcp_keepalives_idle", seconds(probeIdle)},
	{"tcp_keepalives_interval", seconds(probeEvery)},
	{"tcp_keepalives_count", strconv.Itoa(probes)},
	{"tcp_user_timeout", milliseconds(deadAfter)},
	{"idle_in_transaction_session_timeout", milliseconds(deadAfter)},
}

// laneSettings are for connections that no step's transaction uses: nothing
// there takes longer, unless the client has stopped half-way. PostgreSQL 17
// ends that too.
var laneSettings = []setting{
	{"statement_timeout", milliseconds(deadAfter)},
	{"transaction_timeout", milliseconds(deadAfter)},
}

func seconds(d time.Duration) string      { return strconv.Itoa(int(d / time.Second)) }
func milliseconds(d time.Duration) string { return strconv.Itoa(int(d / time.Millisecond)) }

// setReach has the connections of a configuration made as the Store's are, but
// for what the URL says explicitly.
func setReach(config *pgx.ConnConfig, url string) {
	if config.ConnectTimeout == 0 && !strings.Contains(url, "connect_timeout") {
		config.ConnectTimeout = dialLimit
	}
	config.DialFunc = dialer.DialContext
	setSession(config, unset(config, sessionSettings))
}

// unset are those of settings that a configuration's URL does not have.
func unset(config *pgx.ConnConfig, settings []setting) []setting {
	return slices.DeleteFunc(slices.Clone(settings), func(s setting) bool {
		if options := strings.ToLower(config.RuntimeParams["options"]); strings.Contains(options, s.name) {
			return true
		}
		for name := range config.RuntimeParams {
			if strings.EqualFold(name, s.name) {
				return true
			}
		}
		return false
	})
}

// setSession has each connection begin with settings, but for those that the
// server does not know.
func setSession(config *pgx.ConnConfig, settings []setting) {
	if !keepsSession(config) || len(settings) == 0 {
		return
	}
	values := make([]string, len(settings))
	for i, s := range settings {
		values[i] = fmt.Sprintf("('%s', '%s')", s.name, s.value)
	}
	script := `SELECT set_config(name, value, false) FROM (VALUES ` + strings.Join(values, ", ") +
		`) AS s (name, value) WHERE current_setting(name, true) IS NOT NULL`
	before := config.AfterConnect
	config.AfterConnect = func(ctx context.Context, conn *pgconn.PgConn) error {
		if before != nil {
			if err := before(ctx, conn); err != nil {
				return err
			}
		}
		ctx, cancel := context.WithTimeout(ctx, dialLimit) // a pool waits for ever
		defer cancel()
		return conn.Exec(ctx, script).Close()
	}
}

// keepsSession reports whether connections keep the state of a session. Behind
// a pooler in transaction mode they do not; the URL says so by its mode of
// executing queries.
func keepsSession(config *pgx.ConnConfig) bool {
	switch config.DefaultQueryExecMode {
	case pgx.QueryExecModeExec, pgx.QueryExecModeSimpleProtocol:
		return false
	}
	return true
}

// transactionLimits are the settings that end a transaction whose client is
// out of reach or has stopped in the middle, but for those that the URL has.
func transactionLimits(config *pgx.ConnConfig) []string {
	var names []string
	for _, s := range unset(config, []setting{{name: "idle_in_transaction_session_timeout"}, {name: "tcp_user_timeout"}}) {
		names = append(names, s.name)
	}
	return names
}

// limitsSQL sets them for the transaction that it is sent in.
func (s *Store) limitsSQL(limit time.Duration) string {
	var sql strings.Builder
	for _, name := range s.limits {
		sql.WriteString("; SET LOCAL " + name + " = " + milliseconds(limit))
	}
	return sql.String()
}

// bounded is opts with limits for the transaction where the session has none:
// behind a pooler, and in a pool of the caller's.
func (s *Store) bounded(opts pgx.TxOptions) pgx.TxOptions {
	if s.session && s.own {
		return opts
	}
	return pgx.TxOptions{BeginQuery: fmt.Sprintf("BEGIN ISOLATION LEVEL %s %s%s", opts.IsoLevel, opts.AccessMode, s.limitsSQL(deadAfter))}
}
