package control

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"time"
)

// answerWithin bounds how long a question may take: an agent whose deciding
// goroutine is stuck must be seen to be stuck.
const answerWithin = 2 * time.Second

// Agent answers the questions that arrive on the socket.
type Agent interface {
	Status(ctx context.Context) (Status, error)
}

// Serve answers on l until ctx ends.
func Serve(ctx context.Context, l net.Listener, a Agent) error {
	srv := &http.Server{Handler: routes(a), ReadTimeout: answerWithin,
		WriteTimeout: 2 * answerWithin}
	done := context.AfterFunc(ctx, func() { _ = srv.Close() })
	defer done()
	if err := srv.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// routes is the whole of the protocol.
func routes(a Agent) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /v1/status", func(w http.ResponseWriter,
		r *http.Request) {
		ctx, cancel := context.WithTimeout(r.Context(), answerWithin)
		defer cancel()
		st, err := a.Status(ctx)
		reply(w, st, err)
	})
	return mux
}

// failure is the body of an answer that is an error.
type failure struct {
	Error string `json:"error"`
}

// reply writes a value, or an error with status 503.
func reply(w http.ResponseWriter, v any, err error) {
	w.Header().Set("Content-Type", "application/json")
	if err != nil {
		w.WriteHeader(http.StatusServiceUnavailable)
		v = failure{err.Error()}
	}
	// The peer may have gone; there is nobody left to tell.
	_ = json.NewEncoder(w).Encode(v)
}
