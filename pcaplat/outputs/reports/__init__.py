"""What each command says: a module per command, each with `report(found)`.

Where its `--output` gets the document, `FILES` names each file and its format.
"""
