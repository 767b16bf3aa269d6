"""Values of attributes: which ones a store accepts, their encodings, and random ones.

In Python a date is its seconds since 2001; the other types are the obvious ones. The model contains
what the store returns: strings in NFC, floats rounded to their type.
"""

import base64
import datetime
import decimal
import json
import re
import struct
import unicodedata
import uuid

from raw_client import values as wire_values

MISSING_VALUE, WRONG_TYPE, VALIDATION_FAILED = 304, 301, 305
EPOCH = datetime.datetime(2001, 1, 1, tzinfo=datetime.timezone.utc)
INTEGER_BITS = {"int16": 16, "int32": 32, "int64": 64}
PYTHON = {
    "bool": bool, "int16": int, "int32": int, "int64": int, "float": float, "double": float,
    "decimal": decimal.Decimal, "string": str, "date": float, "uuid": uuid.UUID, "url": str,
    "data": bytes, "json": str}
WIRE = {
    "bool": "bool_value", "int16": "int_value", "int32": "int_value", "int64": "int_value",
    "float": "float_value", "double": "double_value", "decimal": "decimal_value",
    "string": "string_value", "date": "date_value", "uuid": "uuid_value", "url": "url_value",
    "data": "data_value", "json": "json_value"}


class Misfit(str):
    """A string for an attribute of another type; for json, text that is not JSON."""


def from_json(kind, written):
    if written is None:
        return None
    match kind:
        case "float" | "double": return float(written)
        case "decimal": return decimal.Decimal(written)
        case "date": return (datetime.datetime.fromisoformat(written) - EPOCH).total_seconds()
        case "uuid": return uuid.UUID(written)
        case "data": return base64.b64decode(written)
        case _: return written


def to_json(kind, value):
    """The value in a line for `larder save`."""
    if value is None or isinstance(value, Misfit):
        return value
    match kind:
        case "decimal": return str(value)
        case "date": return (EPOCH + datetime.timedelta(seconds=value)).isoformat()
        case "uuid": return str(value)
        case "data": return base64.b64encode(value).decode()
        case "json": return json.loads(value)
        case _: return value


def to_wire(kind, value):
    if value is None:
        return wire_values.Value(null_value=True)
    if isinstance(value, Misfit):
        field = "json_value" if kind == "json" else "string_value"
        return wire_values.Value(**{field: value})
    if kind == "decimal":
        value = str(value)
    elif kind == "uuid":
        value = value.bytes
    return wire_values.Value(**{WIRE[kind]: value})


def stored(kind, value):
    """The value as the store returns it."""
    if value is None or isinstance(value, Misfit):
        return value
    match kind:
        case "string": return unicodedata.normalize("NFC", value)
        case "float": return struct.unpack("f", struct.pack("f", value))[0]
        case _: return value


def violation(attribute, value):
    """The error code for setting a value; None if the attribute accepts it."""
    if attribute.derived:
        return VALIDATION_FAILED
    if value is None:
        return None if attribute.optional else MISSING_VALUE
    if isinstance(value, Misfit):
        return WRONG_TYPE
    if not is_in_range(attribute, value):
        return WRONG_TYPE
    value = stored(attribute.type, value)
    if attribute.minimum is not None and value < attribute.minimum:
        return VALIDATION_FAILED
    if attribute.maximum is not None and value > attribute.maximum:
        return VALIDATION_FAILED
    if attribute.length_min is not None and len(value) < attribute.length_min:
        return VALIDATION_FAILED
    if attribute.length_max is not None and len(value) > attribute.length_max:
        return VALIDATION_FAILED
    if attribute.pattern is not None and not re.fullmatch(attribute.pattern, value):
        return VALIDATION_FAILED
    return None


def is_in_range(attribute, value):
    """Whether the value is in the range of the attribute's type."""
    bits = INTEGER_BITS.get(attribute.type)
    return bits is None or value is None or -(1 << bits - 1) <= value < 1 << bits - 1


def without_case_and_accents(text):
    decomposed = unicodedata.normalize("NFD", text)
    letters = "".join(each for each in decomposed if unicodedata.category(each) != "Mn")
    return unicodedata.normalize("NFC", letters.casefold())


# Random values. There are few different ones, so that equal values are frequent.

WORDS = ["Ada", "Bo", "Cé", "Ce\u0301", "Dub", "Ebb", "Flo", "Gig", "Hove", "Ira", "Jib", "Keel"]
DOCUMENTS = ["null", "true", "7", '"x"', "[1,2]", '{"a":{"b":[]}}', '{"a": 1, "b": null}']


def random_value(attribute, choice):
    """A value that the attribute accepts."""
    if attribute.optional and choice.random() < 0.1:
        return None
    match attribute.type:
        case "bool": return choice.random() < 0.5
        case "int16" | "int32" | "int64": return random_integer(attribute, choice)
        case "float": return choice.randint(0, 8) / 8
        case "double": return choice.randint(0, 200) / 4
        case "decimal": return decimal.Decimal(choice.randint(-40, 999)).scaleb(-1)
        case "string": return random_text(attribute, choice)
        case "date": return choice.randint(0, 40) * 21_600.25
        case "uuid": return uuid.UUID(int=choice.randint(1, 400))
        case "url": return f"https://example.org/{choice.randint(1, 9)}?q=%20a"
        case "data": return choice.randbytes(choice.randint(1, 4))
        case "json": return choice.choice(DOCUMENTS)


def random_integer(attribute, choice):
    if attribute.minimum is not None:
        return choice.randint(attribute.minimum, min(attribute.maximum, attribute.minimum + 40))
    if choice.random() < 0.1:
        end = 1 << INTEGER_BITS[attribute.type] - 1
        return choice.choice([-end, end - 1])
    return choice.randint(-3, 20)


def random_text(attribute, choice):
    if attribute.length_min is None and choice.random() < 0.05:
        return ""
    if attribute.unique:
        text = f"{choice.choice(WORDS)}{choice.randint(0, 9)}"
        if attribute.unique == "insensitive" and choice.random() < 0.3:
            return text.upper()
        return text
    return choice.choice(WORDS)


def bad_value(attribute, choice):
    """A value that the attribute refuses, and that a client library cannot refuse before."""
    bad = []
    if not attribute.optional:
        bad.append(None)
    if attribute.type not in ("string", "url", "data", "uuid"):
        bad.append(Misfit("{" if attribute.type == "json" else "x"))
    if attribute.type in INTEGER_BITS and attribute.type != "int64":
        bad.append(1 << INTEGER_BITS[attribute.type] - 1)
    for bound, step in ((attribute.minimum, -1), (attribute.maximum, 1)):
        if bound is not None:
            bad.append(bound + step)
    if attribute.length_min:
        bad.append(b"" if attribute.type == "data" else "")
    if attribute.length_max is not None:
        bad.append(
            bytes(attribute.length_max + 1) if attribute.type == "data"
            else "Z" * (attribute.length_max + 1))
    if attribute.pattern:
        bad.append("no capital")
    return choice.choice(bad) if bad else Ellipsis
