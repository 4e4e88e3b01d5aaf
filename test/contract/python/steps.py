"""Collects the results of a program's steps by name, for programs that print them as JSON."""

results = {}


def step(call):
    """Runs a step at once. Its result, or its error, is in `results` by the name of the function."""
    try:
        results[call.__name__] = call()
    except Exception as error:  # The test gets the error as the result.
        results[call.__name__] = {"error": f"{type(error).__name__}: {error}"}
