// Judges the files of infra/hosting/docker: the Dockerfile by BuildKit's own checks, the Compose file by Compose's own loader. Prints one
// line for each finding, and ends with 1 if there is any. No image is fetched.
package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/compose-spec/compose-go/v2/cli"
	"github.com/moby/buildkit/client/llb"
	"github.com/moby/buildkit/client/llb/sourceresolver"
	"github.com/moby/buildkit/frontend/dockerfile/dockerfile2llb"
	"github.com/moby/buildkit/frontend/dockerui"
	"github.com/opencontainers/go-digest"
	specs "github.com/opencontainers/image-spec/specs-go/v1"
)

// Stands in for the registry: every image exists, and says nothing about itself.
type noRegistry struct{}

func (noRegistry) ResolveImageConfig(_ context.Context, ref string, _ sourceresolver.Opt) (string, digest.Digest, []byte, error) {
	return ref, "", []byte(`{"architecture":"amd64","os":"linux","config":{}}`), nil
}

func main() {
	var findings []string
	for _, name := range os.Args[1:] {
		judge := judgeCompose
		if filepath.Base(name) == "Dockerfile" {
			judge = judgeDockerfile
		}
		found, err := judge(name)
		if err != nil {
			found = append(found, err.Error())
		}
		for _, finding := range found {
			findings = append(findings, name+": "+finding)
		}
	}
	for _, finding := range findings {
		fmt.Println(finding)
	}
	if len(findings) > 0 {
		os.Exit(1)
	}
}

func judgeDockerfile(name string) ([]string, error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	source := llb.NewSourceMap(nil, name, "Dockerfile", text)
	source.Definition = &llb.Definition{}
	linux := specs.Platform{OS: "linux", Architecture: "amd64"}
	results, err := dockerfile2llb.DockerfileLint(context.Background(), text, dockerfile2llb.ConvertOpt{
		MetaResolver:   noRegistry{},
		TargetPlatform: &linux,
		SourceMap:      source,
		Config:         dockerui.Config{BuildPlatforms: []specs.Platform{linux}, TargetPlatforms: []specs.Platform{linux}},
	})
	if err != nil {
		return nil, err
	}
	var found []string
	for _, warning := range results.Warnings {
		found = append(found, warning.RuleName+": "+warning.Detail)
	}
	if results.Error != nil {
		found = append(found, results.Error.Message)
	}
	return found, nil
}

func judgeCompose(name string) ([]string, error) {
	options, err := cli.NewProjectOptions([]string{name})
	if err != nil {
		return nil, err
	}
	_, err = options.LoadProject(context.Background())
	return nil, err
}
