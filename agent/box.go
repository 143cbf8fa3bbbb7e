package agent

import (
	"fmt"

	"recuse/agent/config"
	"recuse/netlinkx"
)

// CheckBox finds the settings that are wrong on this box though the file is
// right. Its error is a config.Errors, or the failure to look.
func CheckBox(c *config.Config) error { return checkBox(c, nil) }

// Observe is what the kernel says of a service's link. A link of that name that
// is somebody else's is a netlinkx.ErrForeign, its state true all the same.
func Observe(s config.Service) (netlinkx.State, error) {
	h, err := netlinkx.NewHolder(holding(s))
	if err != nil {
		return netlinkx.State{}, err
	}
	return h.Observe()
}

// checkBox is CheckBox on a box where an agent has links that it will set down
// before this configuration is in force. A link that an earlier run left under
// another name is no obstacle: it goes when the agent starts.
func checkBox(c *config.Config, own []netlinkx.Config) error {
	for _, s := range c.Services {
		own = append(own, holding(s))
	}
	var problems config.Errors
	for i, s := range c.Services {
		conflicts, err := netlinkx.Connected(s.Addresses, own)
		if err != nil {
			return fmt.Errorf("failed to look at the connected subnets: %w",
				err)
		}
		for _, x := range conflicts {
			problems = append(problems, connected(i, s, x))
		}
	}
	if len(problems) > 0 {
		return problems
	}
	return nil
}

// connected words one conflict.
func connected(i int, s config.Service, x netlinkx.Conflict) config.Problem {
	path := fmt.Sprintf("services[%d].addresses", i)
	for j, a := range s.Addresses {
		if a == x.Address {
			path = fmt.Sprintf("services[%d].addresses[%d]", i, j)
		}
	}
	if x.Subnet == x.Address {
		return config.Problem{Path: path, Value: x.Address.String(),
			Rule: fmt.Sprintf("is already on %s: this node would answer "+
				"there, withdrawn or not; take it off (ip address del %s dev "+
				"%s), or name that link", x.Link, x.Address, x.Link)}
	}
	return config.Problem{Path: path, Value: x.Address.String(),
		Rule: fmt.Sprintf("lies inside %s, which is connected on %s: hosts "+
			"there would reach this node without the routers, withdrawn or "+
			"not; choose an address outside of every connected subnet",
			x.Subnet, x.Link)}
}
