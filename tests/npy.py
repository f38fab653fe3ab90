"""NumPy's file format without NumPy, for scripts that run everywhere."""
import ast, struct

CODES = {"<f4": "f", "<f8": "d", "<f2": "e", "<i8": "q", "<i4": "i", "<i2": "h", "|i1": "b", "|u1": "B", "<u2": "H",
         "<u4": "I", "<u8": "Q", "|b1": "?"}


def write(path, kind, shape, values):
    head = f"{{'descr': '{kind}', 'fortran_order': False, 'shape': ({''.join(f'{n},' for n in shape)}), }}"
    head += " " * (-(len(head) + 11) % 64) + "\n"
    with open(path, "wb") as f:
        f.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode())
        f.write(struct.pack(f"<{len(values)}{CODES[kind]}", *values))


def read(path):
    """kind, shape, flat list of values; bytes per element where Python has no such number"""
    with open(path, "rb") as f:
        data = f.read()
    assert data[:8] == b"\x93NUMPY\x01\x00", "not a file of version 1"
    size = struct.unpack_from("<H", data, 8)[0]
    head = ast.literal_eval(data[10:10 + size].decode())
    kind, body = head["descr"], data[10 + size:]
    if kind not in CODES:
        return kind, head["shape"], list(body)
    code = CODES[kind]
    return kind, head["shape"], list(struct.unpack(f"<{len(body) // struct.calcsize(code)}{code}", body))


def differ(a, b, relative=0.0):
    """The first place where two results differ, or None. `relative` to the largest value of b."""
    if a[:2] != b[:2]:
        return f"{a[:2]} and {b[:2]}"
    numbers = [abs(y) for y in b[2] if y == y and abs(y) != float("inf")]
    allowed = relative * max(numbers, default=0)
    for i, (x, y) in enumerate(zip(a[2], b[2])):
        if not (x == y or (x != x and y != y) or abs(x - y) <= allowed):
            return f"element {i}: {x} and {y}"
    return None
