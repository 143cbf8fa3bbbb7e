package agent

import (
	"context"
	"errors"
	"fmt"
	"html/template"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// httpWithin bounds every exchange with a monitoring client.
const httpWithin = 10 * time.Second

// serveHTTP serves metrics and the status page on http.listen until ctx ends.
// Monitoring is no condition for serving: a port that cannot be had is an
// alarm.
func (a *Agent) serveHTTP(ctx context.Context) error {
	l, err := net.Listen("tcp", a.conf.HTTP.Listen)
	if err != nil {
		return fmt.Errorf("http.listen: %q: no metrics, no status page: %w",
			a.conf.HTTP.Listen, err)
	}
	srv := &http.Server{Handler: a.pages(), ReadTimeout: httpWithin,
		WriteTimeout: httpWithin,
		ErrorLog:     slog.NewLogLogger(a.log.Handler(), slog.LevelWarn)}
	stop := context.AfterFunc(ctx, func() { _ = srv.Close() })
	defer stop()
	if err := srv.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// pages are what http.listen answers.
func (a *Agent) pages() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(newRegistry(a),
		promhttp.HandlerOpts{}))
	mux.HandleFunc("GET /{$}", a.statusPage)
	return mux
}

// statusPage shows the state to a browser, again every five seconds.
func (a *Agent) statusPage(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), scrapeWithin)
	defer cancel()
	st, err := a.Status(ctx)
	if err != nil {
		http.Error(w, err.Error(), http.StatusServiceUnavailable)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Content-Security-Policy",
		"default-src 'none'; style-src 'unsafe-inline'")
	// The client may have gone; there is nobody left to tell.
	_ = page.Execute(w, st)
}

// page is the status page.
var page = template.Must(template.New("status").Parse(`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>recuse: {{.Node}}</title>
<meta name="viewport" content="width=device-width">
<meta http-equiv="refresh" content="5">
<style>
body { font: 16px/1.4 sans-serif; margin: 1em; max-width: 60em; }
table { border-collapse: collapse; margin: .5em 0 1.5em; width: 100%; }
td, th { text-align: left; padding: .2em .8em .2em 0; vertical-align: top;
  border-bottom: 1px solid #ccc; overflow-wrap: anywhere; }
.announced, .ok, .ESTABLISHED { color: #060; }
.depreferred, .slow, .unknown { color: #850; }
.withdrawn, .sick, .dead { color: #a00; }
</style></head><body>
<h1>{{.Node}}</h1>
<p>router-id {{.RouterID}}, version {{.Version}}</p>
{{range .Alarms}}<p class="dead">{{.}}</p>
{{end}}{{range .Services}}
<h2>{{.Name}}: <span class="{{.Stance}}">{{.Stance}}</span></h2>
<p>Level <span class="{{.Level}}">{{.Level}}</span>, {{.Admin}},
since {{.Since.Format "2006-01-02 15:04:05"}}: {{.Reason}}.
Others: {{.OthersKnown}}{{range .Others}} {{.}}{{end}}.
{{with .HoldUntil}}Second choice until {{.Format "15:04:05"}}.{{end}}</p>
<table>
{{range .Addresses}}<tr><td>{{.Prefix}}<td>{{if .Present}}on{{else}}not on{{end}}
{{$.Node}}<td>{{if .Announced}}announced{{else}}not announced{{end}}{{end}}
</table>
<table><tr><th>check<th>level<th>last<th>p50 / p95 / p99 ms<th>why
{{range .Checks}}<tr><td>{{.Name}}<td class="{{.Level}}">{{.Level}}
<td>{{with .Last}}{{.Outcome}}{{end}}<td>{{.P50MS}} / {{.P95MS}} / {{.P99MS}}
<td>{{.Reason}}{{end}}
</table>{{end}}
<h2>Routers</h2>
<table>{{range .Peers}}<tr><td>{{.Address}}<td>AS {{.ASN}}
<td class="{{.State}}">{{.State}}<td>{{.Error}}{{end}}
</table></body></html>
`))
