package config

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/go-viper/mapstructure/v2"
	"github.com/spf13/viper"
)

// maxSize bounds a configuration file, in bytes.
const maxSize = 1 << 20

// Load reads a configuration file and the RECUSE_ variables of the
// environment. Settings that are wrong make an error that is Errors, with all
// of them; one of a file that cannot be read wraps the system's.
func Load(path string) (*Config, error) {
	b, err := read(path)
	if err != nil {
		return nil, fmt.Errorf("failed to read the configuration: %w", err)
	}
	return parse(path, b, os.Environ())
}

// Socket returns the control socket that a file names, whatever else is wrong
// with the file or cannot be read, such as a password, or the default.
func Socket(path string) string {
	b, err := read(path)
	if err != nil {
		return DefaultSocket
	}
	doc := &document{path: path, places: map[string]place{}}
	raw, err := decode(doc, b, os.Environ())
	if err != nil {
		return DefaultSocket
	}
	return newParser(doc).socket("control.socket", raw.Control.Socket)
}

// read returns the contents of a regular file of bearable size.
func read(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if info.IsDir() {
		return nil, fmt.Errorf("%s is a directory; name the file in it", path)
	}
	b, err := io.ReadAll(io.LimitReader(f, maxSize+1))
	if err != nil {
		return nil, err
	}
	if len(b) > maxSize {
		return nil, fmt.Errorf("%s is larger than %d bytes", path, maxSize)
	}
	return b, nil
}

// parse makes a configuration of the bytes of a file and an environment.
func parse(path string, b []byte, environ []string) (*Config, error) {
	doc := &document{path: path, places: map[string]place{}}
	raw, err := decode(doc, b, environ)
	if err != nil {
		return nil, err
	}
	p := newParser(doc)
	c := p.config(raw)
	c.Path = path
	p.strangers(environ)
	if len(p.problems) > 0 {
		p.problems.sort()
		return nil, p.problems
	}
	c.Warnings = p.warnings
	return c, nil
}

// registry hands viper the document as the decoder of whatever it reads.
type registry struct{ *document }

// Decoder implements viper.DecoderRegistry.
func (r registry) Decoder(string) (viper.Decoder, error) { return r.document, nil }

// decode lets viper lay the environment over the file, and returns the text of
// all settings.
func decode(doc *document, b []byte, environ []string) (rawConfig, error) {
	v := viper.NewWithOptions(viper.WithDecoderRegistry(registry{doc}))
	v.SetConfigType("yaml")
	var raw rawConfig
	if err := v.ReadConfig(strings.NewReader(string(b))); err != nil {
		var problems Errors
		if errors.As(err, &problems) {
			return raw, problems
		}
		return raw, fmt.Errorf("failed to read %s: %w", doc.path, err)
	}
	for name, value := range settingsIn(environ) {
		v.Set(name, scalar{text: value, env: true})
	}
	err := v.UnmarshalExact(&raw, func(c *mapstructure.DecoderConfig) {
		c.TagName = "yaml"
		c.WeaklyTypedInput = false
		c.DecodeHook = nil
	})
	if err != nil {
		return raw, fmt.Errorf("failed to read %s: %w", doc.path, err)
	}
	return raw, nil
}
