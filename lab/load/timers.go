package load

// timers orders the lookups under way by their deadlines: a heap of slots. A
// lookup knows its place in it, so that one that ends is taken out at once and
// the heap is never larger than what is outstanding.
type timers struct {
	loop *loop
	heap []int32
}

// set puts a lookup in its place for its deadline, whether it was there or not.
func (t *timers) set(slot int32) {
	l := t.loop.at(slot)
	if l.timer == 0 {
		t.heap = append(t.heap, slot)
		l.timer = int32(len(t.heap))
	}
	t.down(t.up(int(l.timer) - 1))
}

// remove takes a lookup out.
func (t *timers) remove(slot int32) {
	l := t.loop.at(slot)
	if l.timer == 0 {
		return
	}
	i, last := int(l.timer)-1, len(t.heap)-1
	t.swap(i, last)
	t.heap = t.heap[:last]
	l.timer = 0
	if i < last {
		t.down(t.up(i))
	}
}

// less compares two places.
func (t *timers) less(i, j int) bool {
	return t.loop.at(t.heap[i]).deadline < t.loop.at(t.heap[j]).deadline
}

// swap exchanges two places.
func (t *timers) swap(i, j int) {
	t.heap[i], t.heap[j] = t.heap[j], t.heap[i]
	t.loop.at(t.heap[i]).timer = int32(i + 1)
	t.loop.at(t.heap[j]).timer = int32(j + 1)
}

// up moves a place towards the top and returns where it ends.
func (t *timers) up(i int) int {
	for i > 0 && t.less(i, (i-1)/2) {
		t.swap(i, (i-1)/2)
		i = (i - 1) / 2
	}
	return i
}

// down moves a place towards the bottom.
func (t *timers) down(i int) {
	for {
		child := 2*i + 1
		if child >= len(t.heap) {
			return
		}
		if child+1 < len(t.heap) && t.less(child+1, child) {
			child++
		}
		if !t.less(child, i) {
			return
		}
		t.swap(i, child)
		i = child
	}
}
