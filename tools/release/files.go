package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"debug/buildinfo"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/CycloneDX/cyclonedx-go"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/goreleaser/nfpm/v2"
	_ "github.com/goreleaser/nfpm/v2/deb" // the packager
	"github.com/goreleaser/nfpm/v2/files"
	_ "github.com/goreleaser/nfpm/v2/rpm" // the packager
	"github.com/spf13/cobra/doc"

	"github.com/rivulet-profiler/rivulet/cli"
)

// An entry is a file of a package: where it goes, where it is, and its mode.
type entry struct {
	to, from string
	mode     fs.FileMode
}

// papers makes man pages and completions, and lists them with the licence.
func (r *release) papers() ([]entry, error) {
	dir := filepath.Join(r.dir, "papers")
	man := filepath.Join(dir, "man")
	if err := os.MkdirAll(man, 0o755); err != nil {
		return nil, err
	}
	root := cli.Command()
	root.DisableAutoGenTag = true
	if err := doc.GenManTree(root, &doc.GenManHeader{Section: "1", Source: "rivulet " + r.version, Date: &r.made}, man); err != nil {
		return nil, err
	}
	notices := filepath.Join(dir, "NOTICES")
	audit := exec.Command("go", "run", "./tools/audit", "-notices", notices)
	audit.Dir, audit.Env = r.source, append(os.Environ(), "GOWORK=") // it is a command of the workspace
	if b, err := audit.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("go run ./tools/audit: %w: %s", err, b)
	}
	out := []entry{{"/usr/share/doc/rivulet/LICENSE", filepath.Join(r.source, "LICENSE"), 0o644}, {"/usr/share/doc/rivulet/NOTICES", notices, 0o644}}
	pages, err := filepath.Glob(filepath.Join(man, "*.1"))
	if err != nil {
		return nil, err
	}
	for _, p := range pages {
		out = append(out, entry{"/usr/share/man/man1/" + filepath.Base(p), p, 0o644})
	}
	for _, c := range []struct {
		to    string
		write func(io.Writer) error
	}{
		{"/usr/share/bash-completion/completions/rivulet", func(w io.Writer) error { return root.GenBashCompletionV2(w, true) }},
		{"/usr/share/zsh/site-functions/_rivulet", root.GenZshCompletion},
		{"/usr/share/fish/vendor_completions.d/rivulet.fish", func(w io.Writer) error { return root.GenFishCompletion(w, true) }},
	} {
		file := filepath.Join(dir, strings.ReplaceAll(c.to, "/", "_"))
		var b bytes.Buffer
		if err := c.write(&b); err != nil {
			return nil, err
		}
		if err := os.WriteFile(file, b.Bytes(), 0o644); err != nil {
			return nil, err
		}
		out = append(out, entry{c.to, file, 0o644})
	}
	return out, nil
}

// tar packs the files below one folder, as .tar.gz. The binary lies in bin, the rest in share.
func (r *release) tar(p product, entries []entry) error {
	top := filepath.Base(r.name(p, ""))
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		return err
	}
	if err := r.pack(z, entries, func(to string) string { return path.Join(top, strings.TrimPrefix(to, "/usr")) }); err != nil {
		return err
	}
	return errors.Join(z.Close(), os.WriteFile(r.name(p, ".tar.gz"), b.Bytes(), 0o644))
}

func (r *release) pack(w io.Writer, entries []entry, name func(to string) string) error {
	t := tar.NewWriter(w)
	for _, e := range entries {
		data, err := os.ReadFile(e.from)
		if err != nil {
			return err
		}
		if err := t.WriteHeader(&tar.Header{Name: name(e.to), Mode: int64(e.mode), Size: int64(len(data)), ModTime: r.made, Format: tar.FormatPAX}); err != nil {
			return err
		}
		if _, err := t.Write(data); err != nil {
			return err
		}
	}
	return t.Close()
}

func (r *release) deb(p product, entries []entry) error { return r.packed("deb", p, entries) }
func (r *release) rpm(p product, entries []entry) error { return r.packed("rpm", p, entries) }

// packed makes a package of a distribution's.
func (r *release) packed(kind string, p product, entries []entry) (err error) {
	info := &nfpm.Info{
		Name: "rivulet", Arch: p.arch, Platform: "linux", Version: r.version, Section: "devel", Priority: "optional", MTime: r.made,
		Maintainer: "Rivulet developers", License: "Apache-2.0", Description: "Profiler for running JVMs: exact call counts and times below one method",
	}
	for _, e := range entries {
		info.Contents = append(info.Contents, &files.Content{Source: e.from, Destination: e.to, FileInfo: &files.ContentFileInfo{Mode: e.mode, MTime: r.made, Owner: "root", Group: "root"}})
	}
	info = nfpm.WithDefaults(info)
	if err := nfpm.PrepareForPackager(info, kind); err != nil {
		return err
	}
	packager, err := nfpm.Get(kind)
	if err != nil {
		return err
	}
	f, err := os.Create(r.name(p, "."+kind))
	if err != nil {
		return err
	}
	return errors.Join(packager.Package(info, f), f.Close())
}

// sbom lists the modules that the binary is made of, as CycloneDX.
func (r *release) sbom(p product, _ []entry) error {
	info, err := buildinfo.ReadFile(p.file)
	if err != nil {
		return err
	}
	module := func(path, version string) string { return "pkg:golang/" + path + "@" + version }
	bom := cyclonedx.NewBOM()
	main := cyclonedx.Component{
		Type: cyclonedx.ComponentTypeApplication, Name: "rivulet", Version: r.version, BOMRef: module(info.Main.Path, "v"+r.version), PackageURL: module(info.Main.Path, "v"+r.version),
		Licenses: &cyclonedx.Licenses{{License: &cyclonedx.License{ID: "Apache-2.0"}}},
	}
	bom.Metadata = &cyclonedx.Metadata{Timestamp: r.made.Format("2006-01-02T15:04:05Z"), Component: &main}
	goVersion := strings.TrimPrefix(info.GoVersion, "go")
	all := []cyclonedx.Component{{Type: cyclonedx.ComponentTypeLibrary, Name: "std", Version: goVersion, BOMRef: module("std", goVersion), PackageURL: module("std", goVersion)}}
	for _, m := range info.Deps {
		if m.Replace != nil {
			m = m.Replace
		}
		all = append(all, cyclonedx.Component{Type: cyclonedx.ComponentTypeLibrary, Name: m.Path, Version: m.Version, BOMRef: module(m.Path, m.Version), PackageURL: module(m.Path, m.Version)})
	}
	bom.Components = &all
	f, err := os.Create(r.name(p, ".cdx.json"))
	if err != nil {
		return err
	}
	return errors.Join(cyclonedx.NewBOMEncoder(f, cyclonedx.BOMFileFormatJSON).SetPretty(true).Encode(bom), f.Close())
}

// image writes an OCI image of the binaries alone, for all architectures, as a tar archive.
func (r *release) image(all []product, papers []entry) error {
	documents := slices.DeleteFunc(slices.Clone(papers), func(e entry) bool { return !strings.HasPrefix(e.to, "/usr/share/doc/") })
	index := v1.ImageIndex(empty.Index)
	for _, p := range all {
		var b bytes.Buffer
		if err := r.pack(&b, append([]entry{{"/usr/bin/rivulet", p.file, 0o755}}, documents...), func(to string) string { return strings.TrimPrefix(to, "/") }); err != nil {
			return err
		}
		layer, err := tarball.LayerFromOpener(func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(b.Bytes())), nil })
		if err != nil {
			return err
		}
		image, err := mutate.AppendLayers(empty.Image, layer)
		if err != nil {
			return err
		}
		image, err = mutate.ConfigFile(image, &v1.ConfigFile{
			Architecture: p.arch, OS: "linux", Created: v1.Time{Time: r.made}, RootFS: must(image.ConfigFile()).RootFS,
			Config: v1.Config{Entrypoint: []string{"/usr/bin/rivulet"}, Env: []string{"PATH=/usr/bin"}},
		})
		if err != nil {
			return err
		}
		index = mutate.AppendManifests(index, mutate.IndexAddendum{Add: image, Descriptor: v1.Descriptor{Platform: &v1.Platform{OS: "linux", Architecture: p.arch}}})
	}
	dir := filepath.Join(r.dir, "image")
	defer os.RemoveAll(dir)
	if _, err := layout.Write(dir, index); err != nil {
		return err
	}
	var entries []entry
	if err := fs.WalkDir(os.DirFS(dir), ".", func(name string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			entries = append(entries, entry{name, filepath.Join(dir, name), 0o644})
		}
		return err
	}); err != nil {
		return err
	}
	f, err := os.Create(filepath.Join(r.dir, "rivulet_"+r.version+"_image.oci.tar"))
	if err != nil {
		return err
	}
	return errors.Join(r.pack(f, entries, func(to string) string { return to }), f.Close())
}

// must is for an image that was made just now, whose configuration can't fail to be read.
func must(c *v1.ConfigFile, err error) *v1.ConfigFile {
	if err != nil {
		panic(err)
	}
	return c
}
