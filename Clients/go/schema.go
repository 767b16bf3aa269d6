package larder

import (
	"context"
	"encoding/json"

	pb "larder/internal/larderv1"
)

// schema is the part of a schema file that insertions need.
type schema struct {
	Entities []schemaEntity `json:"entities"`
}

type schemaEntity struct {
	Name       string `json:"name"`
	Parent     string `json:"parent"`
	Attributes []struct {
		Name string `json:"name"`
		Type string `json:"type"`
	} `json:"attributes"`
	Relationships []struct {
		Name        string `json:"name"`
		Destination string `json:"destination"`
		ToMany      bool   `json:"toMany"`
	} `json:"relationships"`
}

// property is the type of a property, and the entity of a relationship.
type property struct {
	name        string
	columnType  pb.ColumnType
	destination string
}

// An entity has at most this number of ancestors, so that a schema with a cycle is an error.
const ancestorsMax = 1_000

var columnTypes = map[string]pb.ColumnType{
	"bool": pb.ColumnType_COLUMN_TYPE_BOOL, "int16": pb.ColumnType_COLUMN_TYPE_INT16,
	"int32": pb.ColumnType_COLUMN_TYPE_INT32, "int64": pb.ColumnType_COLUMN_TYPE_INT64,
	"float": pb.ColumnType_COLUMN_TYPE_FLOAT, "double": pb.ColumnType_COLUMN_TYPE_DOUBLE,
	"decimal": pb.ColumnType_COLUMN_TYPE_DECIMAL, "string": pb.ColumnType_COLUMN_TYPE_STRING,
	"date": pb.ColumnType_COLUMN_TYPE_DATE, "uuid": pb.ColumnType_COLUMN_TYPE_UUID,
	"url": pb.ColumnType_COLUMN_TYPE_URL, "data": pb.ColumnType_COLUMN_TYPE_DATA,
	"json": pb.ColumnType_COLUMN_TYPE_JSON,
}

// Schema returns the schema file as JSON.
func (c *Client) Schema(ctx context.Context) (json.RawMessage, error) {
	text, err := c.schemaText(ctx)
	return json.RawMessage(text), public(err)
}

func (c *Client) schemaText(ctx context.Context) (text string, err *Error) {
	request := &pb.Envelope{Body: &pb.Envelope_Schema{Schema: &pb.SchemaRequest{}}}
	err = c.call(ctx, reading, request, func(_ *link, reply *pb.Envelope) *Error {
		if reply.GetSchemaText() == nil {
			return otherReply()
		}
		text = reply.GetSchemaText().Json
		return nil
	})
	return text, err
}

// properties returns the properties of an entity with these names.
func (c *Client) properties(
	ctx context.Context, entity string, names []string,
) ([]property, *Error) {
	text, err := c.schemaText(ctx)
	if err != nil {
		return nil, err
	}
	var found schema
	if json.Unmarshal([]byte(text), &found) != nil {
		return nil, violation("the server sent a schema that is not valid")
	}
	all, err := found.propertiesOf(entity)
	if err != nil {
		return nil, err
	}
	var listed []property
	for _, name := range names {
		property, exists := all[name]
		if !exists {
			return nil, newError(CodeUnknownProperty, "%s has no property %q", entity, name)
		}
		listed = append(listed, property)
	}
	return listed, nil
}

// propertiesOf returns the properties of an entity and its ancestors by their names.
func (s *schema) propertiesOf(entity string) (map[string]property, *Error) {
	all := map[string]property{}
	for count := 0; entity != ""; count++ {
		declared := s.entity(entity)
		if declared == nil || count > ancestorsMax {
			return nil, newError(CodeUnknownEntity, "there is no entity %q", entity)
		}
		for _, each := range declared.Attributes {
			columnType, exists := columnTypes[each.Type]
			if !exists {
				return nil, newError(CodeUnsupported,
					"%s.%s has the type %q, which this client does not know",
					entity, each.Name, each.Type)
			}
			all[each.Name] = property{name: each.Name, columnType: columnType}
		}
		for _, each := range declared.Relationships {
			columnType := pb.ColumnType_COLUMN_TYPE_OBJECT
			if each.ToMany {
				columnType = pb.ColumnType_COLUMN_TYPE_OBJECTS
			}
			all[each.Name] = property{each.Name, columnType, each.Destination}
		}
		entity = declared.Parent
	}
	return all, nil
}

func (s *schema) entity(name string) *schemaEntity {
	for index := range s.Entities {
		if s.Entities[index].Name == name {
			return &s.Entities[index]
		}
	}
	return nil
}
