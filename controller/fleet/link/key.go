package link

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/rivulet-profiler/rivulet/controller/fleet"
)

// A Key is what somebody needs to use a broker: the content of a key file.
type Key struct {
	URL    string     `json:"url"` // of the broker; several with commas
	User   string     `json:"user"`
	Role   fleet.Role `json:"role"`
	Token  string     `json:"token"`
	Node   string     `json:"node,omitempty"` // the only node that a key of nodes is for; "" for any
	CA     string     `json:"ca,omitempty"`   // certificates that the broker's is signed by, PEM
	Creds  string     `json:"-"`              // file of NATS credentials, instead of Token
	CAFile string     `json:"-"`              // instead of CA
}

// ErrKey is a key file that can't be used.
var ErrKey = errors.New("not a key of a fleet")

// ReadKey reads a key file. The error names the file and wraps [ErrKey] if it is none.
func ReadKey(path string) (*Key, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	k := &Key{}
	if err := json.Unmarshal(b, k); err != nil {
		return nil, fmt.Errorf("%s: %w: %w", path, ErrKey, err)
	}
	if k.User == "" || k.Token == "" || !fleet.KnownRole(string(k.Role)) || k.User != fleet.Token(k.User) {
		return nil, fmt.Errorf("%s: %w: user, token or role is missing; rivulet hub writes such files", path, ErrKey)
	}
	return k, nil
}

// WriteKey writes a key file that only its owner can read.
func WriteKey(path string, k *Key) error {
	b, err := json.MarshalIndent(k, "", " ")
	if err != nil {
		return err
	}
	temp, err := os.CreateTemp(filepath.Dir(path), ".key") // of mode 0600
	if err != nil {
		return err
	}
	_, err = temp.Write(append(b, '\n'))
	if err = errors.Join(err, temp.Close()); err == nil {
		err = os.Rename(temp.Name(), path)
	}
	if err != nil {
		os.Remove(temp.Name())
	}
	return err
}
