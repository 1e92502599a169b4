// Command client uses the client that oapi-codegen generates in the folder tidemark beside this file.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"net/http"
	"os"
	"time"

	"tidemark/client/tidemark"
)

func main() {
	client, err := tidemark.NewClientWithResponses(os.Getenv("TIDEMARK_URL"), tidemark.WithRequestEditorFn(authorise))
	check(err)
	ctx := context.Background()

	history, err := client.GetMarketHistoryWithResponse(ctx, "gold-usd", nil)
	check(err)
	newest, err := history.JSON200.Data[0].AsObservation0()
	check(err)

	markets := countMarkets(ctx, client)
	report := readReport(ctx, client, post(ctx, client))
	missing, err := client.GetIngestBatchWithResponse(ctx, "bat_01JD8N5W5XQ6M4T0VZ8R2K7C3A", nil)
	check(err)

	check(json.NewEncoder(os.Stdout).Encode(map[string]any{
		"markets":  markets,
		"newest":   newest.Decimal,
		"state":    report.State,
		"accepted": report.Counts.Accepted,
		"problem":  missing.ApplicationproblemJSON404.Code,
	}))
}

func authorise(_ context.Context, request *http.Request) error {
	request.Header.Set("Authorization", "Bearer "+os.Getenv("TIDEMARK_KEY"))
	return nil
}

func countMarkets(ctx context.Context, client *tidemark.ClientWithResponses) int {
	count := 0
	params := &tidemark.ListMarketsParams{}
	for {
		page, err := client.ListMarketsWithResponse(ctx, params)
		check(err)
		count += len(page.JSON200.Data)
		if page.JSON200.Page.NextCursor == nil {
			return count
		}
		params.Cursor = page.JSON200.Page.NextCursor
	}
}

func post(ctx context.Context, client *tidemark.ClientWithResponses) string {
	digits := "4150.25"
	var observation tidemark.ObservationRecord
	check(observation.FromDecimalObservationRecord(tidemark.DecimalObservationRecord{
		Type:        "observation",
		Market:      "gold-usd",
		Metric:      "price",
		Value:       &digits,
		Currency:    "USD",
		SourceValue: &digits,
		SourceLabel: "An exchange",
		SourceUrl:   "https://exchange.example/go",
		ObservedAt:  time.Date(2026, 9, 1, 0, 0, 0, 0, time.UTC),
		Confidence:  "high",
		Status:      "final",
	}))
	var record tidemark.IngestRecord
	check(record.FromObservationRecord(observation))
	answer, err := client.CreateIngestBatchWithResponse(
		ctx,
		&tidemark.CreateIngestBatchParams{IdempotencyKey: "go-batch-number-1"},
		tidemark.IngestBatch{Records: []tidemark.IngestRecord{record}},
	)
	check(err)
	if answer.JSON202 == nil {
		log.Fatal(fmt.Errorf("the batch was not accepted: %s", answer.Body))
	}
	return answer.JSON202.Id
}

func readReport(ctx context.Context, client *tidemark.ClientWithResponses, id string) *tidemark.BatchReport {
	for {
		report, err := client.GetIngestBatchWithResponse(ctx, id, nil)
		check(err)
		if state := report.JSON200.State; state == "applied" || state == "refused" {
			return report.JSON200
		}
		time.Sleep(100 * time.Millisecond)
	}
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
