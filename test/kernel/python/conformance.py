"""Runs the suite of jupyter_kernel_test against the installed kernel."""

import unittest

import jupyter_kernel_test

KERNEL = "lance-typescript"


class Conformance(jupyter_kernel_test.KernelTests):
    kernel_name = KERNEL
    language_name = "typescript"
    file_extension = ".ts"
    code_hello_world = "console.log('hello, world')"
    code_stderr = "console.error('test')"
    completion_samples = [
        {"text": "conso", "matches": {"console"}},
        {"text": "Math.ma", "matches": {"max"}},
    ]
    complete_code_samples = ["let x1 = 1", "function f() {}", "1 + 1", "await 0"]
    incomplete_code_samples = ["function f() {", "[1, 2", "if (true) {"]
    invalid_code_samples = ["let 3x = 1;;]", "import = 3"]
    code_generate_error = "throw new Error('boom')"
    code_execute_result = [
        {"code": "6 * 7", "result": "42"},
        {"code": "({ a: 1 })", "result": "{ a: 1 }"},
    ]
    code_display_data = [{"code": "display.html('<b>x</b>')", "mime": "text/html"}]
    code_inspect_sample = "console"
    code_history_pattern = "6*"
    supported_history_operations = ("tail", "range", "search")
    code_clear_output = "display.clear()"


class Welcome(jupyter_kernel_test.IopubWelcomeTests):
    kernel_name = KERNEL
    support_iopub_welcome = True


if __name__ == "__main__":
    unittest.main(verbosity=2)
