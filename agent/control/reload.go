package control

// Reload is the body of POST /v1/reload.
type Reload struct {
	// DryRun says what would change, and changes nothing.
	DryRun bool `json:"dry_run,omitempty"`
	// AllowWithdraw permits what costs a route that is fine.
	AllowWithdraw bool `json:"allow_withdraw,omitempty"`
}

// Reloaded is the answer.
type Reloaded struct {
	// Changes are the differences of the settings, a line each.
	Changes []string `json:"changes"`
	// Harms are the changes that cost routes or sessions; without
	// AllowWithdraw they are a reason to refuse.
	Harms []string `json:"harms"`
	// Later are the changes that take effect at the next start.
	Later []string `json:"later"`
	// Restarts tells that the agent leaves in order and starts anew.
	Restarts bool `json:"restarts"`
}
