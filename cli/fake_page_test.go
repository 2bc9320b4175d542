package cli

import (
	"context"

	"github.com/rivulet-profiler/rivulet/controller/export"
	"github.com/rivulet-profiler/rivulet/controller/session"
)

func (f *fake) Snapshot(ctx context.Context) (*export.Report, error) { return f.report(), ctx.Err() }

func (f *fake) AllMethods(ctx context.Context) ([]session.MethodInfo, error) {
	return f.Methods(ctx, "shop.Price")
}
