package load

import (
	"fmt"
	"math/rand"
)

// Shop is the path of a request to the bench programs' shop: a quarter browses,
// others look at an item, fill a cart, order, and a few read their history.
func Shop(r *rand.Rand) string {
	kind, user := r.Intn(100), r.Intn(100)
	switch {
	case kind < 25:
		return fmt.Sprintf("/shop/do/browse?c=%d&p=%d", r.Intn(40), r.Intn(5))
	case kind < 55:
		return fmt.Sprintf("/shop/do/item?id=%d", r.Intn(4000))
	case kind < 80:
		return fmt.Sprintf("/shop/do/cart?u=%d&id=%d", user, r.Intn(4000))
	case kind < 95:
		return fmt.Sprintf("/shop/do/order?u=%d", user)
	}
	return fmt.Sprintf("/shop/do/history?u=%d", user)
}
