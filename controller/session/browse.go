package session

import (
	"context"
	"errors"

	"github.com/rivulet-profiler/rivulet/controller/roots"
)

// Classes is [roots.Catalog.Classes]. It is safe for concurrent use, and fails if the session ends.
func (s *Session) Classes(ctx context.Context, pattern string) ([]roots.ClassInfo, error) {
	var out []roots.ClassInfo
	var wrong error
	err := s.do(ctx, func() { out, wrong = s.loop.catalog().Classes(pattern) })
	return out, errors.Join(err, wrong)
}

// Methods is [roots.Catalog.Methods]. It is safe for concurrent use, and fails if the session ends.
func (s *Session) Methods(ctx context.Context, class string) ([]roots.MethodInfo, error) {
	var out []roots.MethodInfo
	var unknown error
	err := s.do(ctx, func() { out, unknown = s.loop.catalog().Methods(class) })
	if unknown != nil {
		return nil, unknown
	}
	return out, err
}
