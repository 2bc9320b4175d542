package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/rivulet-profiler/rivulet/controller/export"
	"github.com/rivulet-profiler/rivulet/web"
)

// scrape samples a JVM for whoever asks the page's server for pprof: as rivulet sample does
// without options.
func (a *app) scrape(ctx context.Context, pid int, length time.Duration) (*export.Report, error) {
	return a.sampleQuietly(ctx, pid, (&sampleFlags{}).plain(), length)
}

// findOne finds the JVM that a scraper describes, as --match does: numbers change with each start
// of a JVM.
func (a *app) findOne(ctx context.Context, rules []string) (int, error) {
	pids, err := (&targetFlags{match: rules}).choose(ctx, a.backend, nil)
	if err == nil && len(pids) > 1 {
		err = fmt.Errorf("%d JVMs are meant by match=%s: narrow it down", len(pids), strings.Join(rules, "&match="))
	}
	if err != nil {
		return 0, err
	}
	return pids[0], nil
}

// readToken reads the token of scrapers, which nobody but the file's owner may.
func readToken(file string) (string, error) {
	f, err := os.Open(file)
	if err != nil {
		return "", usage("--scrape-token: %w", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return "", usage("--scrape-token: %w", err)
	}
	if info.Mode().IsRegular() && info.Mode().Perm()&0o044 != 0 {
		return "", usage("--scrape-token %s: others may read it; chmod 600 %s", file, file)
	}
	b, err := io.ReadAll(io.LimitReader(f, 4096))
	if err != nil {
		return "", usage("--scrape-token: %w", err)
	}
	token := strings.TrimSpace(string(b))
	if err := web.CheckToken(token); err != nil {
		return "", usage("--scrape-token %s: %w", file, err)
	}
	return token, nil
}
