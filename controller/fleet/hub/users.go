package hub

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/rivulet-profiler/rivulet/controller/fleet"
	"github.com/rivulet-profiler/rivulet/controller/fleet/link"
)

const usersFile = "users.json"

// A User is somebody, or a node, who may use a hub. The hub keeps no tokens.
type User struct {
	Name string     `json:"name"`
	Role fleet.Role `json:"role"`
	Node string     `json:"node,omitempty"` // the only one that a node's key is for
	Hash string     `json:"hash"`           // SHA-256 of the token, in hex: tokens have 256 random bits
	Made time.Time  `json:"made"`
}

// Users reads who may use the hub of a folder.
func Users(dir string) ([]User, error) {
	b, err := os.ReadFile(filepath.Join(dir, usersFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var out []User
	if err == nil {
		err = json.Unmarshal(b, &out)
	}
	return out, err
}

// changeUsers reads, changes and writes the list, one process at a time.
func changeUsers(dir string, change func([]User) ([]User, error)) error {
	lock, err := os.OpenFile(filepath.Join(dir, usersFile+".lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	defer lock.Close()
	if err := unix.Flock(int(lock.Fd()), unix.LOCK_EX); err != nil {
		return err
	}
	users, err := Users(dir)
	if err == nil {
		users, err = change(users)
	}
	if err != nil {
		return err
	}
	b, err := json.MarshalIndent(users, "", " ")
	if err != nil {
		return err
	}
	temp := filepath.Join(dir, "."+usersFile)
	if err := os.WriteFile(temp, append(b, '\n'), 0o600); err != nil {
		return err
	}
	return os.Rename(temp, filepath.Join(dir, usersFile))
}

// ErrKnown is a user that there is already.
var ErrKnown = errors.New("there is a user of this name")

// ErrUnknown is a user that there is not.
var ErrUnknown = errors.New("there is no user of this name")

// NewToken makes a token.
func NewToken() string {
	b := make([]byte, 32)
	_, _ = rand.Read(b) // never fails
	return base64.RawURLEncoding.EncodeToString(b)
}

// AddUser lets somebody use the hub of a folder, whether it runs or not. The key has the
// token, which is kept nowhere else. The error wraps [ErrKnown] if there is one.
func AddUser(dir, name string, role fleet.Role, node string) (*link.Key, error) {
	k := &link.Key{User: name, Role: role, Node: node, Token: NewToken()}
	err := changeUsers(dir, func(users []User) ([]User, error) {
		if slices.ContainsFunc(users, func(u User) bool { return u.Name == name }) {
			return nil, fmt.Errorf("%s: %w", name, ErrKnown)
		}
		return append(users, User{Name: name, Role: role, Node: node, Hash: hashOf(k.Token), Made: time.Now().UTC().Truncate(time.Second)}), nil
	})
	return k, err
}

// RemoveUser takes the right to use the hub away: connections end within seconds. The
// error wraps [ErrUnknown] if there is no such user.
func RemoveUser(dir, name string) error {
	return changeUsers(dir, func(users []User) ([]User, error) {
		i := slices.IndexFunc(users, func(u User) bool { return u.Name == name })
		if i < 0 {
			return nil, fmt.Errorf("%s: %w", name, ErrUnknown)
		}
		return slices.Delete(users, i, i+1), nil
	})
}

func hashOf(token string) string {
	s := sha256.Sum256([]byte(token))
	return hex.EncodeToString(s[:])
}

// A register knows the users of a folder, and notices changes.
type register struct {
	dir string

	mu     sync.Mutex
	seen   os.FileInfo // the list that was read last
	byName map[string]User
}

// refresh reads the list again if it has changed, and tells who is no longer in it, or
// is someone else.
func (r *register) refresh() (gone []string, err error) {
	info, err := os.Stat(filepath.Join(r.dir, usersFile))
	if err != nil {
		return nil, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	// Two changes within some milliseconds have the same time: each is another file.
	if r.seen != nil && os.SameFile(info, r.seen) && info.Size() == r.seen.Size() && info.ModTime().Equal(r.seen.ModTime()) {
		return nil, nil
	}
	users, err := Users(r.dir)
	if err != nil {
		return nil, err
	}
	byName := map[string]User{}
	for _, u := range users {
		byName[u.Name] = u
	}
	for name, u := range r.byName {
		if byName[name] != u {
			gone = append(gone, name)
		}
	}
	r.byName, r.seen = byName, info
	return gone, nil
}

// find is the user whose token this is.
func (r *register) find(name, token string) (User, bool) {
	r.mu.Lock()
	u, ok := r.byName[name]
	r.mu.Unlock()
	return u, subtle.ConstantTimeCompare([]byte(hashOf(token)), []byte(u.Hash)) == 1 && ok
}

// Configuration is the part of a nats-server's configuration that lets these users in and
// gives each what its role allows. admin may set up what is kept. Passwords are hashed by
// hash.
func Configuration(keys []*link.Key, hash func(token string) (string, error)) (string, error) {
	var b strings.Builder
	b.WriteString("authorization {\n  users = [\n")
	for _, k := range keys {
		password, err := hash(k.Token)
		if err != nil {
			return "", err
		}
		g := fleet.GrantOf(k.User, k.Role, k.Node)
		fmt.Fprintf(&b, "    { user: %q, password: %q, permissions: {\n      publish: { allow: [%s] }\n      subscribe: { allow: [%s] }\n", k.User, password, quoted(g.Publish), quoted(g.Subscribe))
		if g.Respond {
			b.WriteString("      allow_responses: { max: 1, expires: \"1m\" }\n")
		}
		b.WriteString("    } }\n")
	}
	b.WriteString("  ]\n}\n")
	return b.String(), nil
}

func quoted(subjects []string) string {
	var out []string
	for _, s := range subjects {
		out = append(out, fmt.Sprintf("%q", s))
	}
	return strings.Join(out, ", ")
}
