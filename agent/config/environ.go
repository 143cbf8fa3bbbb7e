package config

import (
	"reflect"
	"slices"
	"strings"
)

// envPrefix begins the name of every environment variable that is a setting.
const envPrefix = "RECUSE_"

// envName returns the environment variable of the setting at a path.
func envName(path string) string {
	return envPrefix + strings.ToUpper(strings.ReplaceAll(path, ".", "_"))
}

// envNames returns the paths of all scalar settings by their variables.
func envNames() map[string]string {
	names := map[string]string{}
	for _, path := range scalarPaths(reflect.TypeFor[rawConfig](), "") {
		names[envName(path)] = path
	}
	return names
}

// settingsIn returns the values of an environment's settings by their paths.
func settingsIn(environ []string) map[string]string {
	names := envNames()
	found := map[string]string{}
	for _, line := range environ {
		name, value, _ := strings.Cut(line, "=")
		if path, ok := names[name]; ok {
			found[path] = value
		}
	}
	return found
}

// scalarPaths returns the paths of all scalar settings that are in no list.
func scalarPaths(t reflect.Type, path string) []string {
	var paths []string
	for f := range t.Fields() {
		at := join(path, f.Tag.Get("yaml"))
		switch {
		case f.Type == reflect.TypeFor[*scalar]():
			paths = append(paths, at)
		case f.Type.Kind() == reflect.Struct:
			paths = append(paths, scalarPaths(f.Type, at)...)
		}
	}
	return paths
}

// strangers warns of variables that look like a misspelt setting. Others may
// be anybody's, so they are let be.
func (p *parser) strangers(environ []string) {
	names := envNames()
	for _, line := range slices.Sorted(slices.Values(environ)) {
		name, _, _ := strings.Cut(line, "=")
		if _, known := names[name]; known || !strings.HasPrefix(name, envPrefix) {
			continue
		}
		if near := nearest(name, names); near != "" {
			p.warn(name, nil, "no such setting; did you mean %s?", near)
		}
	}
}
