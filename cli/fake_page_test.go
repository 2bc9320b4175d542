package cli

import (
	"context"

	"github.com/rivulet-profiler/rivulet/controller/export"
	"github.com/rivulet-profiler/rivulet/controller/roots"
)

func (f *fake) Snapshot(ctx context.Context) (*export.Report, error) { return f.report(), ctx.Err() }

func (f *fake) AllMethods(ctx context.Context) ([]roots.MethodInfo, error) {
	return f.Methods(ctx, "shop.Price")
}
