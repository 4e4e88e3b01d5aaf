"""Creates a package for pip from files: `wheel.py FOLDER NAME VERSION` with {"path": "text"} on stdin."""

import base64
import hashlib
import json
import sys
import zipfile

folder, name, version = sys.argv[1:]
info = f"{name}-{version}.dist-info"
files = {
    **json.load(sys.stdin),
    f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n",
    f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
}


def hash_of(text):
    return base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).rstrip(b"=").decode()


record = [f"{path},sha256={hash_of(text)},{len(text.encode())}" for path, text in files.items()]
files[f"{info}/RECORD"] = "\n".join([*record, f"{info}/RECORD,,\n"])
with zipfile.ZipFile(f"{folder}/{name}-{version}-py3-none-any.whl", "w") as wheel:
    for path, text in files.items():
        entry = zipfile.ZipInfo(path)
        # Programs must be executable.
        entry.external_attr = 0o100755 << 16
        wheel.writestr(entry, text)
