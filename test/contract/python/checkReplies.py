"""Checks responses of a server against the specification's schemas.

argv: the OpenAPI document. stdin: a JSON list of {operation, status, contentType, body}, with the body parsed if it is
JSON.
stdout: a JSON list of messages, one for each invalid response.
"""

import json
import sys

import yaml
from jsonschema import Draft202012Validator
from referencing import Registry, Resource
from referencing.jsonschema import DRAFT202012

document = yaml.safe_load(open(sys.argv[1], encoding="utf-8"))
registry = Registry().with_resource("spec:", Resource(contents=document, specification=DRAFT202012))
operations = {
    operation["operationId"]: operation
    for path in document["paths"].values()
    for method, operation in path.items()
    if method in ("get", "post")
}


def resolved(node):
    while "$ref" in node:
        target = document
        for step in node["$ref"].removeprefix("#/").split("/"):
            target = target[step]
        node = target
    return node


def absolute(node):
    """Returns the same schema with references that resolve from any location."""
    if isinstance(node, dict):
        return {
            key: f"spec:{value}" if key == "$ref" and value.startswith("#") else absolute(value)
            for key, value in node.items()
        }
    return [absolute(one) for one in node] if isinstance(node, list) else node


def problems(answer):
    operation = operations.get(answer["operation"])
    if operation is None:
        return ["is no operation"]
    listed = {str(status): response for status, response in operation["responses"].items()}
    response = listed.get(str(answer["status"]))
    if response is None:
        return [f"answers {answer['status']}, which is not listed"]
    content = resolved(response).get("content")
    if not content:
        return [] if answer["body"] in (None, "") else ["has a body"]
    media = content.get(answer["contentType"])
    if media is None:
        return [f"answers {answer['contentType']} instead of {', '.join(content)}"]
    if answer["contentType"] != "application/json":
        return []
    validator = Draft202012Validator(absolute(media["schema"]), registry=registry)
    return [f"{error.json_path}: {error.message}" for error in validator.iter_errors(answer["body"])]


found = [
    f"{answer['operation']} {problem}: {json.dumps(answer['body'])[:300]}"
    for answer in json.load(sys.stdin)
    for problem in problems(answer)
]
json.dump(found, sys.stdout)
