package bench

import "fmt"

// All are a bench's own nodes as those of any bench.
func All[N Node](own []N) []Node {
	var nodes []Node
	for _, n := range own {
		nodes = append(nodes, n)
	}
	return nodes
}

// Own are nodes as the bench that made them knows them. One that another bench
// made is an error.
func Own[N Node](nodes []Node) ([]N, error) {
	var own []N
	for _, n := range nodes {
		o, ok := n.(N)
		if !ok {
			return nil, fmt.Errorf("failed to find node %s: it is none of this bench", n.Name())
		}
		own = append(own, o)
	}
	return own, nil
}
