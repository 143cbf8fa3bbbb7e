package control

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"time"
)

// answerWithin bounds how long a question may take: an agent whose deciding
// goroutine is stuck must be seen to be stuck.
const answerWithin = 2 * time.Second

// maxBody bounds what a command may say.
const maxBody = 64 << 10

// Agent answers the questions that arrive on the socket.
type Agent interface {
	Status(ctx context.Context) (Status, error)
	// Events gives the remembered events, and the coming ones if follow is set.
	Events(ctx context.Context, follow bool) ([]Event, <-chan Event, error)
	Operator
}

// Operator carries out what an operator wants.
type Operator interface {
	// Drain returns when the service is out, or when that failed.
	Drain(ctx context.Context, d Drain) error
	Undrain(ctx context.Context, service string) error
	Resume(ctx context.Context, service string) error
	// Reload says what it changed, or with an error what it would have.
	Reload(ctx context.Context, r Reload) (Reloaded, error)
}

// remakeEvery is how often the socket's name is looked after.
const remakeEvery = time.Second

// partWithin bounds how long the end waits for those who are being answered.
const partWithin = 500 * time.Millisecond

// Serve answers on l until ctx ends, and then those who have asked: what ended
// the agent may be a command. A socket whose name somebody removed is made anew.
func Serve(ctx context.Context, l *Listener, a Agent, log *slog.Logger) error {
	// No write timeout: a drain is answered when it is done, and events may be
	// followed for days.
	srv := &http.Server{Handler: routes(ctx, a), ReadTimeout: answerWithin,
		ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelWarn)}
	parted := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(parted)
		part(srv)
	})
	defer func() {
		if !stop() {
			<-parted
		}
	}()
	for {
		ended := make(chan error, 1)
		go func() { ended <- srv.Serve(l) }()
		next, err := remake(l, ended, log)
		switch {
		case errors.Is(err, http.ErrServerClosed):
			return nil
		case err != nil:
			return err
		}
		_ = l.Close() // whoever is being answered on it stays so
		l = next
	}
}

// part ends the server when all have their answers, or after partWithin.
func part(srv *http.Server) {
	ctx, cancel := context.WithTimeout(context.Background(), partWithin)
	defer cancel()
	if srv.Shutdown(ctx) != nil {
		_ = srv.Close()
	}
}

// remake makes the socket anew once its name is gone. Until then it returns
// only for the end of the present one.
func remake(l *Listener, ended <-chan error, log *slog.Logger) (*Listener, error) {
	look := time.NewTicker(remakeEvery)
	defer look.Stop()
	told := ""
	for {
		select {
		case err := <-ended:
			return nil, err
		case <-look.C:
		}
		if l.stands() {
			continue
		}
		next, _, err := Listen(l.path, l.group)
		if err == nil {
			log.Warn("control socket made anew: its name was removed",
				"socket", l.path)
			return next, nil
		}
		if err.Error() != told {
			told = err.Error()
			log.Error("control socket lost", "error", err)
		}
	}
}

// routes is the whole of the protocol, until ctx ends.
func routes(ctx context.Context, a Agent) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /v1/status", func(w http.ResponseWriter,
		r *http.Request) {
		ctx, cancel := context.WithTimeout(r.Context(), answerWithin)
		defer cancel()
		st, err := a.Status(ctx)
		reply(w, st, err)
	})
	mux.HandleFunc("GET /v1/events", func(w http.ResponseWriter,
		r *http.Request) {
		stream(ctx, w, r, a)
	})
	mux.HandleFunc("POST /v1/drain", command(a.Drain))
	mux.HandleFunc("POST /v1/reload", question(a.Reload))
	mux.HandleFunc("POST /v1/undrain", command(named(a.Undrain)))
	mux.HandleFunc("POST /v1/resume", command(named(a.Resume)))
	return mux
}

// named makes a command of a method that takes a service's name.
func named(f func(context.Context, string) error) func(context.Context,
	Name) error {
	return func(ctx context.Context, n Name) error { return f(ctx, n.Service) }
}

// command is a question whose answer is that it was done.
func command[T any](f func(context.Context, T) error) http.HandlerFunc {
	return question(func(ctx context.Context, body T) (struct{}, error) {
		return struct{}{}, f(ctx, body)
	})
}

// question reads a body, carries it out, and answers when it is done.
func question[T, A any](f func(context.Context, T) (A, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var body T
		d := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxBody))
		d.DisallowUnknownFields()
		err := d.Decode(&body)
		if _, more := d.Token(); err == nil && more != io.EOF {
			err = errors.New("more than one JSON value")
		}
		if err != nil {
			w.WriteHeader(http.StatusBadRequest)
			_ = json.NewEncoder(w).Encode(failure{err.Error()})
			return
		}
		answer, err := f(r.Context(), body)
		reply(w, answer, err)
	}
}

// stream writes events as JSON lines, those to come until ctx ends.
func stream(ctx context.Context, w http.ResponseWriter, r *http.Request, a Agent) {
	past, coming, err := a.Events(r.Context(), r.FormValue("follow") != "")
	if err != nil {
		reply(w, nil, err)
		return
	}
	out := json.NewEncoder(w)
	w.Header().Set("Content-Type", "application/jsonl")
	for _, e := range past {
		if out.Encode(e) != nil {
			return
		}
	}
	flush := http.NewResponseController(w)
	for coming != nil {
		_ = flush.Flush()
		select {
		case e, ok := <-coming:
			if !ok || out.Encode(e) != nil {
				return
			}
		case <-ctx.Done():
			return
		}
	}
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
