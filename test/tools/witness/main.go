// Runs the omniwitness for one log, in memory, at a free port of this machine, until it is killed. Prints one line: its
// verifier key and its URL, as TIDEMARK_WITNESSES takes them.
//
//	witness VKEY
package main

import (
	"context"
	"crypto/rand"
	"fmt"
	"log"
	"net"
	"net/http"
	"os"

	fnote "github.com/transparency-dev/formats/note"
	"github.com/transparency-dev/witness/config"
	"github.com/transparency-dev/witness/omniwitness"
	"github.com/transparency-dev/witness/persistence/inmemory"
	"golang.org/x/mod/sumdb/note"
)

func main() {
	log.SetFlags(0)
	if len(os.Args) != 2 {
		log.Fatal("use: witness VKEY")
	}
	if err := run(context.Background(), os.Args[1]); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, vkey string) error {
	verifier, err := note.NewVerifier(vkey)
	if err != nil {
		return fmt.Errorf("the verifier key of the log: %w", err)
	}
	secret, public, err := note.GenerateKey(rand.Reader, "witness.test/omniwitness")
	if err != nil {
		return err
	}
	signer, err := fnote.NewSignerForCosignatureV1(secret)
	if err != nil {
		return err
	}
	store := inmemory.New()
	if err := store.AddLogs(ctx, []config.Log{{VKey: vkey, Verifier: verifier, Origin: verifier.Name()}}); err != nil {
		return err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	cosigner, err := fnote.VKeyToCosignatureV1(public)
	if err != nil {
		return err
	}
	fmt.Printf("%s http://%s\n", cosigner, listener.Addr())
	keys := omniwitness.OperatorConfig{
		WitnessKeys:     []note.Signer{signer},
		WitnessVerifier: signer.Verifier(),
		Logs:            store,
	}
	return omniwitness.Main(ctx, keys, store, listener, http.DefaultClient)
}
