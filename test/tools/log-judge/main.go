// Judges a log by other people's code: Go's sumdb/note and sumdb/tlog, Tessera's fsck, and torchwood. Prints one line for each
// finding, and ends with 1 if there is any.
//
//	judge VKEY LOG [CHECKPOINT...]   LOG is a folder or a URL; each CHECKPOINT is a file with an older checkpoint
//	judge VKEY proof FILE [WITNESS]  FILE is a tlog-proof with its entry as the extra data; the key of a witness that must
//	                                 have signed it, too
package main

import (
	"bytes"
	"context"
	"fmt"
	"log"
	"net/url"
	"os"
	"strings"

	"filippo.io/torchwood"
	tlogformat "github.com/transparency-dev/formats/log"
	"github.com/transparency-dev/tessera/api"
	"github.com/transparency-dev/tessera/client"
	"github.com/transparency-dev/tessera/fsck"
	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
)

const height = 8

func main() {
	log.SetFlags(0)
	if len(os.Args) < 3 {
		log.Fatal("use: judge VKEY LOG [CHECKPOINT...], or judge VKEY proof FILE [WITNESS]")
	}
	verifier, err := note.NewVerifier(os.Args[1])
	if err != nil {
		log.Fatalf("the verifier key: %v", err)
	}
	var said string
	if os.Args[2] == "proof" && len(os.Args) > 3 {
		said, err = judgeProof(verifier, os.Args[3], os.Args[4:])
	} else {
		said, err = judgeLog(context.Background(), verifier, os.Args[2], os.Args[3:])
	}
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(said)
}

// The tree of a checkpoint that the key has signed.
func openTree(text []byte, verifier note.Verifier) (tlog.Tree, error) {
	opened, err := note.Open(text, note.VerifierList(verifier))
	if err != nil {
		return tlog.Tree{}, err
	}
	var checkpoint tlogformat.Checkpoint
	rest, err := checkpoint.Unmarshal([]byte(opened.Text))
	if err != nil {
		return tlog.Tree{}, err
	}
	if len(rest) > 0 || checkpoint.Origin != verifier.Name() {
		return tlog.Tree{}, fmt.Errorf("the checkpoint is of %q, with further lines %q", checkpoint.Origin, rest)
	}
	tree := tlog.Tree{N: int64(checkpoint.Size)}
	if copy(tree.Hash[:], checkpoint.Hash) != tlog.HashSize {
		return tlog.Tree{}, fmt.Errorf("the root has %d bytes", len(checkpoint.Hash))
	}
	return tree, nil
}

// Reads tiles as sumdb/tlog asks for them. It has verified them when it uses them.
type tiles struct {
	ctx     context.Context
	fetcher fsck.Fetcher
}

func (t tiles) Height() int { return height }

func (t tiles) SaveTiles([]tlog.Tile, [][]byte) {}

func (t tiles) ReadTiles(wanted []tlog.Tile) ([][]byte, error) {
	var all [][]byte
	for _, tile := range wanted {
		data, err := t.fetcher.ReadTile(t.ctx, uint64(tile.L), uint64(tile.N), uint8(tile.W))
		if err != nil {
			return nil, err
		}
		all = append(all, data)
	}
	return all, nil
}

func judgeLog(ctx context.Context, verifier note.Verifier, where string, older []string) (string, error) {
	fetcher, err := fetcherOf(where)
	if err != nil {
		return "", err
	}
	text, err := fetcher.ReadCheckpoint(ctx)
	if err != nil {
		return "", err
	}
	tree, err := openTree(text, verifier)
	if err != nil {
		return "", fmt.Errorf("the checkpoint: %w", err)
	}
	hashes := tlog.TileHashReader(tree, tiles{ctx, fetcher})
	entries, err := readEntries(ctx, fetcher, tree.N)
	if err != nil {
		return "", err
	}
	for index, entry := range entries {
		proof, err := tlog.ProveRecord(tree.N, int64(index), hashes)
		if err != nil {
			return "", fmt.Errorf("entry %d: %w", index, err)
		}
		if err := tlog.CheckRecord(proof, tree.N, tree.Hash, int64(index), tlog.RecordHash(entry)); err != nil {
			return "", fmt.Errorf("entry %d is not in the tree: %w", index, err)
		}
	}
	for _, file := range older {
		if err := judgeGrowth(file, verifier, tree, hashes); err != nil {
			return "", fmt.Errorf("%s: %w", file, err)
		}
	}
	compared, err := judgeTiles(ctx, fetcher, entries)
	if err != nil {
		return "", err
	}
	if err := fsck.New(verifier.Name(), verifier, fetcher, leavesOf, fsck.Opts{N: 1}).Check(ctx); err != nil {
		return "", fmt.Errorf("Tessera's fsck: %w", err)
	}
	return fmt.Sprintf("%d entries, %d tiles, %d older checkpoints", len(entries), compared, len(older)), nil
}

func fetcherOf(where string) (fsck.Fetcher, error) {
	if !strings.HasPrefix(where, "http") {
		return client.FileFetcher{Root: where}, nil
	}
	root, err := url.Parse(strings.TrimSuffix(where, "/") + "/")
	if err != nil {
		return nil, err
	}
	return client.NewHTTPFetcher(root, nil)
}

func readEntries(ctx context.Context, fetcher fsck.Fetcher, size int64) ([][]byte, error) {
	var entries [][]byte
	for n := int64(0); n<<height < size; n++ {
		width := min(size-n<<height, 1<<height)
		// Of a full bundle, the width is 0.
		data, err := fetcher.ReadEntryBundle(ctx, uint64(n), uint8(width))
		if err != nil {
			return nil, fmt.Errorf("bundle %d: %w", n, err)
		}
		var bundle api.EntryBundle
		if err := bundle.UnmarshalText(data); err != nil {
			return nil, fmt.Errorf("bundle %d: %w", n, err)
		}
		if int64(len(bundle.Entries)) != width {
			return nil, fmt.Errorf("bundle %d has %d entries, expected %d", n, len(bundle.Entries), width)
		}
		entries = append(entries, bundle.Entries...)
	}
	return entries, nil
}

func leavesOf(data []byte) ([][]byte, error) {
	var bundle api.EntryBundle
	if err := bundle.UnmarshalText(data); err != nil {
		return nil, err
	}
	var leaves [][]byte
	for _, entry := range bundle.Entries {
		hash := tlog.RecordHash(entry)
		leaves = append(leaves, hash[:])
	}
	return leaves, nil
}

// The log of the older checkpoint must be the beginning of this one.
func judgeGrowth(file string, verifier note.Verifier, tree tlog.Tree, hashes tlog.HashReader) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	older, err := openTree(text, verifier)
	if err != nil {
		return err
	}
	if older.N == 0 {
		return nil
	}
	proof, err := tlog.ProveTree(tree.N, older.N, hashes)
	if err != nil {
		return err
	}
	return tlog.CheckTree(proof, tree.N, tree.Hash, older.N, older.Hash)
}

// Builds every tile of the tree from its entries, and compares the bytes.
func judgeTiles(ctx context.Context, fetcher fsck.Fetcher, entries [][]byte) (int, error) {
	var stored []tlog.Hash
	reader := tlog.HashReaderFunc(func(indexes []int64) ([]tlog.Hash, error) {
		var hashes []tlog.Hash
		for _, index := range indexes {
			hashes = append(hashes, stored[index])
		}
		return hashes, nil
	})
	for index, entry := range entries {
		hashes, err := tlog.StoredHashes(int64(index), entry, reader)
		if err != nil {
			return 0, err
		}
		stored = append(stored, hashes...)
	}
	compared := 0
	for _, tile := range tlog.NewTiles(height, 0, int64(len(entries))) {
		expected, err := tlog.ReadTileData(tile, reader)
		if err != nil {
			return 0, err
		}
		found, err := fetcher.ReadTile(ctx, uint64(tile.L), uint64(tile.N), uint8(tile.W))
		if err != nil {
			return 0, err
		}
		if !bytes.Equal(expected, found) {
			return 0, fmt.Errorf("%s has other bytes", tile.Path())
		}
		compared++
	}
	return compared, nil
}

// Torchwood reads the receipt, and verifies that its extra data is the record that is proven.
func judgeProof(verifier note.Verifier, file string, witnesses []string) (string, error) {
	proof, err := os.ReadFile(file)
	if err != nil {
		return "", err
	}
	entry, err := torchwood.ProofExtraData(proof)
	if err != nil {
		return "", err
	}
	all := []torchwood.Policy{torchwood.OriginPolicy(verifier.Name()), torchwood.SingleVerifierPolicy(verifier)}
	for _, vkey := range witnesses {
		cosigner, err := torchwood.NewCosignatureVerifier(vkey)
		if err != nil {
			return "", err
		}
		all = append(all, torchwood.SingleVerifierPolicy(cosigner))
	}
	policy := torchwood.ThresholdPolicy(len(all), all...)
	if err := torchwood.VerifyProof(policy, tlog.RecordHash(entry), proof); err != nil {
		return "", err
	}
	return fmt.Sprintf("proven: %s", entry), nil
}
