package larder

import (
	"encoding/json"
	"testing"

	pb "larder/internal/larderv1"
)

// FuzzReplies checks that no reply of a server ends the program, or makes rows that it does not
// have.
func FuzzReplies(f *testing.F) {
	position := &pb.HistoryToken{Store: testStore[:], Epoch: 1, Number: 1}
	change := placed(batchOf(3), 1, 2)
	change.Position, change.Deleted = position, []uint32{0}
	bodies := []*pb.Envelope{
		{Body: &pb.Envelope_Batches{Batches: &pb.BatchesReply{Batches: []*pb.Batch{
			{RowCount: 2, Columns: columnsOfEachType()}, batchOf(1, 2),
		}}}},
		savedReply(1),
		{Body: &pb.Envelope_Observed{Observed: change}},
		{Body: &pb.Envelope_Transactions{Transactions: &pb.HistoryReply{
			Position: position, Partial: true, Transactions: []*pb.HistoryTransaction{{
				Number: 1, Runs: []*pb.HistoryRun{{Kind: 1, Entity: "A", FirstKey: 1, LastKey: 2}},
				Tombstones: []*pb.HistoryTombstone{{Entity: "A", Key: 1, Values: []*pb.PreservedValue{
					{Name: "a", Value: null()},
				}}},
			}},
		}}},
		{Body: &pb.Envelope_SchemaText{SchemaText: &pb.SchemaReply{
			Json: `{"entities": [{"name": "A", "parent": "A"}]}`,
		}}},
		{Body: &pb.Envelope_Failed{Failed: &pb.ErrorReply{
			Code: 401, Details: []*pb.ChangeViolation{{Code: 401}},
		}}},
	}
	for _, envelope := range bodies {
		f.Add(marshalled(f, envelope))
	}
	f.Fuzz(func(t *testing.T, bytes []byte) {
		envelope := &pb.Envelope{}
		if unmarshalled(bytes, envelope) {
			readReply(t, envelope)
		}
	})
}

func readReply(t *testing.T, envelope *pb.Envelope) {
	switch body := envelope.Body.(type) {
	case *pb.Envelope_Batches:
		for _, batch := range body.Batches.Batches {
			rows, err := appendRows(nil, batch, testStore)
			if err == nil && len(rows) != int(batch.RowCount) {
				t.Errorf("found %d rows", len(rows))
			}
		}
	case *pb.Envelope_Saved:
		set := &ChangeSet{}
		set.Insert("Person", nil)
		if saved, err := result(body.Saved, set); err == nil && len(saved.Inserted) != 1 {
			t.Errorf("found %v", saved)
		}
	case *pb.Envelope_Observed:
		first := whole(1, 2)
		first.Position = body.Observed.Position
		rows := liveRows{hasObjects: true}
		if _, err := rows.apply(first, testStore); err != nil {
			return
		}
		result, err := rows.apply(body.Observed, testStore)
		if err == nil && result != nil && len(result.Rows) != len(rows.rows) {
			t.Errorf("found %v", result)
		}
	case *pb.Envelope_Transactions:
		history := &History{pending: body.Transactions.Transactions}
		if _, err := position(body.Transactions.Position); err != nil ||
			history.join(body.Transactions.Partial) != nil {
			return
		}
		for _, each := range history.pending {
			transaction(each, Token{})
		}
	case *pb.Envelope_SchemaText:
		var found schema
		if json.Unmarshal([]byte(body.SchemaText.Json), &found) == nil {
			found.propertiesOf("A")
		}
	case *pb.Envelope_Failed:
		if replied(body.Failed).Error() == "" {
			t.Error("an error has no text")
		}
	}
}
