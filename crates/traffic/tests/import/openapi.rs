//! OpenAPI descriptions.

use serde_json::{Value, json};
use traffic::Workload;
use traffic::import::{Format, Imported, Options};

use super::{assert_notes, refused, taken};

const PETS: &str = include_str!("pets.yaml");

#[track_caller]
fn of(description: &Value) -> (Imported, Workload) {
    taken("api.json", &description.to_string(), &Options::default())
}

/// A description with one operation that takes a body of this schema.
fn posting(schema: Value) -> Value {
    json!({"openapi": "3.1.0", "info": {}, "paths": {"/p": {"post": {
        "requestBody": {"required": true, "content": {"application/json": {"schema": schema}}}, "responses": {"200": {}}}}}})
}

#[test]
fn operations_become_pages_that_make_use_and_delete_what_they_name() {
    let (imported, workload) = taken("pets.yaml", PETS, &Options::default());
    assert_eq!(imported.text, include_str!("pets.toml"));
    assert_eq!(workload.pages.len(), 5);
    assert_notes(
        &imported,
        &[
            "left out: operations that change or delete what the session has not made; --all takes them (1)",
            "left out: GET /codes/{code}: code: nothing is made for the pattern ^(?!Z); add an example",
            "${petId}: json:/id of POST /pets, in paths below /pets/{petId}",
            "key, for 4 operations: run it with --header 'X-Key: KEY'",
            "login, for 1 operation: run it with --header 'Authorization: Bearer TOKEN'",
            "taken: 5 operations",
        ],
    );
}

#[test]
fn options_change_what_is_taken() {
    let urls = |options: &Options| -> Vec<String> {
        taken("pets.yaml", PETS, options).1.pages.iter().map(|page| page.url.to_string()).collect()
    };
    let all = urls(&Options { all: true, ..Options::default() });
    assert!(all.contains(&"/api/v1/owners/text".to_owned()), "{all:?}");
    let tagged = urls(&Options { tags: vec!["pets".to_owned()], ..Options::default() });
    assert_eq!(tagged[0], "/api/v1/pets/1", "what makes it is not among them");
    assert_eq!(tagged.len(), 2);
    let below = urls(&Options { path: Some("/pets/".to_owned()), ..Options::default() });
    assert_eq!(below, ["/api/v1/pets/1"]);
    let options = Options { path: Some("/dogs".to_owned()), ..Options::default() };
    assert!(
        refused("a.yaml", PETS, &options)
            .starts_with("a.yaml: none of its 7 operations is selected by --path /dogs")
    );
    let options = Options { secrets: true, ..Options::default() };
    assert!(refused("a.yaml", PETS, &options).starts_with("--secrets is for HAR files"));
}

#[test]
fn bodies_fit_their_schemas() {
    for (schema, expected) in [
        (json!({"type": "integer", "minimum": 3, "maximum": 9}), "${random:3:9}"),
        (json!({"type": "integer", "exclusiveMinimum": 3, "exclusiveMaximum": 5}), "4"),
        (json!({"type": "integer", "minimum": 3, "exclusiveMinimum": true}), "${random:4:1004}"),
        (json!({"type": "integer", "maximum": -5}), "-5"),
        (json!({"type": "integer", "minimum": 4, "multipleOf": 5}), "5"),
        (json!({"type": "number", "maximum": 1}), "1"),
        (json!({"type": ["null", "boolean"]}), "true"),
        (json!({"type": "string", "format": "uuid"}), "\"${uuid}\""),
        (json!({"type": "string", "format": "date-time"}), "\"2024-01-15T12:00:00Z\""),
        (json!({"type": "string", "minLength": 6}), "\"textte\""),
        (json!({"type": "string", "maxLength": 2}), "\"te\""),
        (json!({"type": "string", "pattern": "^[A-Z]{3}$"}), "\"AAA\""),
        (json!({"type": "string", "pattern": "^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$"}), "\"${uuid}\""),
        (json!({"enum": ["a\"${b}", "c"]}), "\"a\\\"$${b}\""),
        (json!({"const": 5}), "5"),
        (json!({"type": "array", "items": {"type": "boolean"}, "minItems": 2}), "[true,true]"),
        (json!({"oneOf": [{"type": "null"}, {"type": "string", "default": "x"}]}), "\"x\""),
        (
            json!({"properties": {"a": {"example": 1}, "b": {"readOnly": true}, "c": {"type": "boolean"}}}),
            "{\"a\":1,\"c\":true}",
        ),
        (
            json!({"required": ["c"], "properties": {"a": {"example": 1}, "b": {}, "c": {"type": "boolean"}}}),
            "{\"a\":1,\"c\":true}",
        ),
        (
            json!({"allOf": [{"required": ["a"], "properties": {"a": {"const": 1}}}, {"required": ["b"], "properties": {"b": {"const": 2}}}]}),
            "{\"a\":1,\"b\":2}",
        ),
    ] {
        let (_, workload) = of(&posting(schema.clone()));
        assert_eq!(&**workload.pages[0].request.body.as_ref().unwrap().text(), expected, "{schema}");
    }
    let endless = json!({"required": ["a"], "properties": {"a": {"$ref": "#/paths/~1p/post/requestBody/content/application~1json/schema"}}});
    let said = refused("a.json", &posting(endless).to_string(), &Options::default());
    assert!(
        said.contains("none of its operations can be asked for") && said.contains("contains itself"),
        "{said}"
    );
}

#[test]
fn swagger_2_is_read() {
    let (imported, workload) = of(&json!({"swagger": "2.0", "basePath": "/v2/", "paths": {
        "/pet/{petId}": {
            "get": {"parameters": [{"name": "petId", "in": "path", "required": true, "type": "integer"}], "responses": {"200": {}}},
            "post": {"consumes": ["application/x-www-form-urlencoded"], "responses": {"405": {}}, "parameters": [
                {"name": "petId", "in": "path", "required": true, "type": "integer"},
                {"name": "name", "in": "formData", "required": true, "type": "string"}]}},
        "/pet": {"post": {"security": [{"auth": []}], "responses": {"200": {"schema": {"$ref": "#/definitions/Pet"}}}, "parameters": [{"name": "body", "in": "body", "required": true, "schema": {"$ref": "#/definitions/Pet"}}]}}},
        "securityDefinitions": {"auth": {"type": "oauth2"}},
        "definitions": {"Pet": {"type": "object", "required": ["name"], "properties": {"id": {"type": "integer"}, "name": {"type": "string", "example": "doggie"}}}}}));
    let sent: Vec<(&str, Option<&str>)> = workload
        .pages
        .iter()
        .map(|page| (&*page.url, page.request.body.as_ref().map(|body| &**body.text())))
        .collect();
    assert_eq!(
        sent,
        [
            ("/v2/pet", Some("{\"name\":\"doggie\"}")),
            ("/v2/pet/${petId}", Some("name=text")),
            ("/v2/pet/${petId}", None),
        ]
    );
    assert_notes(&imported, &["auth, for 1 operation: run it with --header 'Authorization: Bearer TOKEN'"]);
}

#[test]
fn what_is_inside_of_another_thing_is_deleted_first() {
    let made = json!({"201": {"content": {"application/json": {"schema": {"properties": {"data": {"properties": {"id": {}}}}}}}}});
    let gone = json!({"responses": {"204": {}}});
    let (_, workload) = of(&json!({"openapi": "3.0.0", "paths": {
        "/a/{id}/b/{bid}": {"delete": gone}, "/a/{id}": {"delete": gone},
        "/a/{id}/b": {"post": {"responses": made}}, "/a": {"post": {"responses": made}}}}));
    let shown: Vec<String> = workload
        .pages
        .iter()
        .map(|page| format!("{} {}", page.request.method.as_deref().unwrap(), page.url))
        .collect();
    assert_eq!(shown, ["POST /a", "POST /a/${a_id}/b", "DELETE /a/${a_id}/b/${b_bid}", "DELETE /a/${a_id}"]);
    assert_eq!(workload.pages[0].request.takes.len(), 1);
    assert_eq!(workload.pages[1].request.takes[0].place.to_string(), "json:/data/id");
}

#[test]
fn what_no_page_sends_is_not_taken() {
    let (_, workload) = of(&json!({"openapi": "3.0.0", "paths": {
        "/a": {"post": {"responses": {"201": {"content": {"application/json": {"schema": {"properties": {"id": {}}}}}}}}},
        "/a/{id}": {"get": {"parameters": [{"name": "q", "in": "cookie", "required": true}], "responses": {}}}}}));
    assert!(workload.pages.len() == 1 && workload.pages[0].request.takes.is_empty());
}

#[test]
fn what_is_not_a_description_is_refused_with_its_place() {
    let forced = Options { format: Some(Format::OpenApi), ..Options::default() };
    for (text, expected) in [
        ("openapi: 3.0.0\npaths: {}\n", "a.yaml: there are no paths; give"),
        ("openapi: 3.0.0\npaths: {/a: {}}\n", "a.yaml: there are no operations below \"paths\"; add"),
        (
            "info:\nopenapi: 4.0.0\n",
            "a.yaml:2: openapi 4.0.0 is not known; OpenAPI 3.0, 3.1 and Swagger 2.0 are read",
        ),
        ("swagger: '1.2'\n", "a.yaml:1: swagger 1.2 is not known"),
        ("log: 1\n", "a.yaml: it is not an OpenAPI description"),
        ("openapi: 3.0.0\npaths: [\n", "a.yaml:"),
        ("{\"openapi\": \"3.0.0\",\n", "a.yaml:2: the file ends in the middle"),
        (
            "openapi: 3.0.0\npaths:\n  /a:\n    $ref: 'a.yaml#/x'\n",
            "a.yaml:4: it refers to other files: a.yaml#/x; put them into one file first",
        ),
        (
            "openapi: 3.0.0\npaths:\n  /a:\n    $ref: '#/x'\n",
            "a.yaml:4: \"#/x\" names nothing in the file; correct",
        ),
        ("openapi: 3.0.0\npaths:\n  /a: {$ref: '#/paths/~1a'}\n", "a.yaml: a $ref leads back to itself"),
    ] {
        let said = refused("a.yaml", text, &forced);
        assert!(said.starts_with(expected), "{said}\n{expected}");
    }
    assert!(refused("a.yaml", "a: b\n", &Options::default()).starts_with("a.yaml: it is neither a HAR file"));
}

#[test]
fn a_body_that_need_not_be_sent_is_not_left_out_without_a_word() {
    let of_body = |required: bool| {
        let body = json!({"required": required, "content": {"multipart/form-data": {"schema": {}}}});
        json!({"openapi": "3.1.0", "info": {}, "paths": {
            "/a": {"get": {"responses": {"200": {}}}},
            "/p": {"post": {"requestBody": body, "responses": {"200": {}}}},
        }})
    };
    let (imported, workload) = of(&of_body(false));
    assert_eq!(workload.pages.len(), 2);
    let note = "POST /p is sent without its body, which need not be there: nothing is made of the type \
                multipart/form-data; add a body to its page by hand";
    assert!(imported.notes.iter().any(|said| said == note), "{:?}", imported.notes);
    let (imported, workload) = of(&of_body(true));
    assert_eq!(workload.pages.len(), 1);
    let note = "left out: POST /p: nothing is made of the type multipart/form-data; add an example";
    assert!(imported.notes.iter().any(|said| said == note), "{:?}", imported.notes);
}

#[test]
fn what_is_wrong_with_json_comes_with_what_to_do() {
    for (text, line) in [("{\n\"openapi\": \"3.0.0\",,}", "a.json:2"), ("{\n\"openapi\": 1e999}", "a.json:2")]
    {
        let said = refused("a.json", text, &Options::default());
        assert!(said.starts_with(line) && said.contains("export it anew"), "{said}");
    }
}
