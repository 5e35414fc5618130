"""The JSON Schema of a claims file, for editors: docs/reference/claims.schema.json."""

import json

from pcaplat.published import Published

DIALECT = "https://json-schema.org/draft/2020-12/schema"


def claims_schema() -> str:
    """Give the schema as JSON text.

    What no schema can say (does the unit fit the metric, does a formula name columns that are
    there) is left to `load_published`.

    Example:
        >>> sorted(json.loads(claims_schema())["properties"])
        ['claims', 'document', 'tables']
    """
    schema = {"$schema": DIALECT, **Published.model_json_schema()}
    return json.dumps(schema, indent=2, ensure_ascii=False) + "\n"
