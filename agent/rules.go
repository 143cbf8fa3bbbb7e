package agent

import "recuse/agent/config"

// rulesOf translates a service's settings for the decision.
func rulesOf(c config.Service) Rules {
	return Rules{
		Settle: c.Settle, Drain: c.Drain, DrainTimeout: c.DrainTimeout,
		YieldWait: c.YieldWait, HoldMin: c.Hold.Min, HoldMax: c.Hold.Max,
		Slow: answerOf(c.On.Slow), Sick: answerOf(c.On.Sick),
		Dead: answerOf(c.On.Dead), Manual: c.Failback == config.FailbackManual,
		Keep: c.Link.WhenOut == config.WhenOutKeep,
	}
}

// answerOf translates one answer; the configuration has no other words.
func answerOf(word string) Answer {
	switch word {
	case config.Deprefer:
		return Deprefer
	case config.Yield:
		return Yield
	case config.Withdraw:
		return Withdraw
	}
	return Ignore
}

// policyOf translates the configured policy.
func policyOf(c config.Service) Policy {
	switch c.Policy {
	case config.PolicyAny:
		return Policy{Need: 1}
	case config.PolicyAtLeast:
		return Policy{Need: c.AtLeast}
	}
	return Policy{}
}
