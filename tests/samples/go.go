// Package shapes draws: 形.
package shapes

import (
	"fmt"
	h "net/http"
)

const Unit = 1

// Shape is what has an area.
type Shape interface {
	// Area in m².
	Area() float64
	Scale(by float64) Shape
	fmt.Stringer
}

type Circle[T any] struct {
	Radius T
	mu     struct{ held bool }
}

type (
	// Table maps names.
	Table map[string]Shape

	Alias = Circle[int]
)

var pool, spare = newPool(), 2

// Area of the circle.
func (c *Circle[T]) Area() float64 {
	inner := func() float64 { return 1 }
	return inner()
}

func (Table) Len() int { return 0 }

func New[T any](radius T) *Circle[T] {
	return &Circle[T]{Radius: radius}
}

func init() {
	h.HandleFunc("/ü", func(w h.ResponseWriter, r *h.Request) {})
}
