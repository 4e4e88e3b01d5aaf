"""Debugs notebooks in one kernel, and prints the results by action as JSON."""

import json
import os
import time

from debug_client import Debug
from ipykernel.compiler import murmur2_x86

CELL = "\n".join(
    [
        "type Amount = number",
        "const price: Amount = 20",
        "",
        "function twice(n: Amount): Amount {",
        "  const result: Amount = n * 2",
        "  return result + price - 20",
        "}",
        "const paid = twice(price)",
        "const rest = await Promise.resolve(100 - paid)",
        "rest",
    ]
)
COUNTED = "let counted = 0\ncounted = 1\ncounted = 2"
seen = {}
debug = Debug()
try:
    info = debug.control("kernel_info_request", {})
    seen["kernel_info"] = [info["supported_features"], info["debugger"]]
    before = debug.body("debugInfo")
    seen["before"] = [before["isStarted"], before["stoppedThreads"], before["breakpoints"]]
    seen["not attached"] = debug.request("threads")["success"], debug.request("scopes", frameId=1)["success"]

    earlier = "function later(q: number) {\n  return q + 1\n}"
    debug.ended(debug.run(earlier))
    debug.attach()
    path = debug.body("dumpCell", code=CELL)["sourcePath"]
    hashed = f"{before['tmpFilePrefix']}{murmur2_x86(CELL, before['hashSeed'])}{before['tmpFileSuffix']}"
    seen["path is the hash"] = path == hashed
    seen["source"] = debug.body("source", source={"path": path})["content"] == CELL
    seen["told"] = debug.break_at(CELL, 1, 3, 5, 99)
    debug.body("configurationDone")

    # A cell from its first breakpoint to its end.
    cell = debug.run(CELL)
    seen["first stop"] = debug.stopped()
    debug.go()
    seen["second stop"] = debug.stopped()
    seen["frames"] = [[each["name"], each["source"]["name"], each["source"]["path"] == path] for each in debug.frames()]
    seen["scopes"] = debug.scopes()
    seen["evaluate"] = [debug.evaluate(each) for each in ("n + price", "(price as any) + 1", "nothing", "n ===")]
    seen["look"] = [debug.evaluate(each, "hover") for each in ("price", "price = 5")]
    debug.go("next")
    seen["step over"] = debug.stopped()
    local = debug.body("scopes", frameId=debug.frames()[0]["id"])["scopes"]
    reference = {scope["name"]: scope["variablesReference"] for scope in local}
    set_to = [("Local", "result", "60 as number"), ("Notebook", "price", "25")]
    for scope, name, value in set_to:
        debug.body("setVariable", variablesReference=reference[scope], name=name, value=value)
    seen["after set"] = [debug.evaluate("result"), debug.evaluate("price")]
    debug.go("stepOut")
    seen["step out"] = debug.stopped()
    debug.go("next")
    seen["step over an await"] = debug.stopped()
    debug.go("next")
    seen["step off the end"] = debug.ended(cell)
    seen["continued"] = debug.event("continued")["threadId"]

    cell = debug.run("later(1)")
    seen["not in an earlier cell"] = debug.ended(cell)
    debug.break_at(earlier, 2)
    cell = debug.run("later(1)")
    seen["in an earlier cell"] = debug.stopped()
    debug.go()
    debug.ended(cell)

    # Conditions and log points.
    loop = "let sum = 0\nfor (let i = 0; i < 9; i++) {\n  sum += i\n  later(sum)\n}"
    debug.break_at(earlier)
    log = {"line": 4, "logMessage": "{i} makes {sum}", "hitCondition": "% 4"}
    debug.break_at(loop, {"line": 3, "condition": "i === 5 && sum === 10"}, log)
    cell = debug.run(loop)
    seen["condition"] = [debug.stopped(), debug.evaluate("i")]
    debug.go()
    seen["log point"] = debug.event("output")["output"]
    debug.ended(cell)

    # Exceptions.
    throws = "try { throw new Error('caught') } catch {}\nawait 1\nthrow new TypeError('loose')"
    debug.body("setExceptionBreakpoints", filters=["uncaught"])
    cell = debug.run(throws)
    seen["uncaught"] = [debug.stopped(), debug.body("exceptionInfo")["exceptionId"]]
    debug.go()
    debug.ended(cell)
    debug.body("setExceptionBreakpoints", filters=["all"])
    cell = debug.run(throws)
    seen["all"] = debug.stopped()
    debug.body("setExceptionBreakpoints", filters=[])
    debug.go()
    debug.ended(cell)

    # A file of the user.
    with open("helper.ts", "w", encoding="utf8") as file:
        file.write("type A = number\nexport function helped(x: A): A {\n  return x * 2\n}\n")
    helper = os.path.abspath("helper.ts")
    debug.body("setBreakpoints", source={"path": helper}, breakpoints=[{"line": 3}])
    cell = debug.run("import { helped } from './helper'\nhelped(21)")
    seen["own file"] = [debug.stopped(), debug.frames()[0]["source"]["path"] == helper, debug.scopes()["Local"]]
    seen["modules"] = [each["name"] for each in debug.body("modules")["modules"]]
    debug.go()
    debug.ended(cell)

    # Large values are sent in parts.
    cell = debug.run("const many = Array.from({ length: 100_000 }, (_, i) => i)\ndebugger\n1")
    debug.stopped()
    many = debug.body("evaluate", expression="many", frameId=debug.frames()[0]["id"])
    page = {"filter": "indexed", "start": 99_990, "count": 100}
    paged = debug.body("variables", variablesReference=many["variablesReference"], **page)["variables"]
    unpaged = debug.body("variables", variablesReference=many["variablesReference"])["variables"]
    seen["large"] = [many["indexedVariables"], len(paged), paged[-1]["value"], len(unpaged) < 300]
    rich = debug.body("richInspectVariables", variableName="many", frameId=debug.frames()[0]["id"])
    seen["rich"] = sorted(rich["data"])
    debug.go()
    debug.ended(cell)
    variables = debug.body("inspectVariables")["variables"]
    seen["while nothing runs"] = next(each["type"] for each in variables if each["name"] == "many")

    # Other requests while execution is paused.
    debug.break_at(COUNTED, 2)
    cell = debug.run(COUNTED)
    debug.stopped()
    started = time.monotonic()
    reply = debug.client.complete("coun", reply=True, timeout=30)["content"]
    seen["completion at a pause"] = ["paused" in reply["evalue"], time.monotonic() - started < 10]
    seen["interrupt at a pause"] = [debug.control("interrupt_request", {})["status"], *debug.ended(cell)]
    seen["nothing ran behind it"] = debug.ended(debug.run("counted"))

    cell = debug.run("let spun = 0\nwhile (true) {\n  spun++\n}")
    debug.until("typeof spun === 'number' && spun > 0")
    debug.body("pause", threadId=1)
    seen["pause"] = debug.stopped()[0]
    debug.control("interrupt_request", {})
    seen["state is kept"] = [debug.ended(cell)[0], *debug.ended(debug.run("spun > 0"))]

    # The end of debugging.
    cell = debug.run(COUNTED)
    debug.stopped()
    debug.body("disconnect")
    seen["disconnect at a pause"] = debug.ended(cell)
    seen["runs through afterwards"] = debug.ended(debug.run(COUNTED))
    seen["without a debugger"] = [debug.body("debugInfo")["isStarted"], len(debug.body("inspectVariables")["variables"]) > 3]
    debug.attach()
    debug.break_at(COUNTED, 3)
    cell = debug.run(COUNTED)
    seen["attached again"] = debug.stopped()
    debug.restart()
    seen["restart at a pause"] = debug.ended(debug.run("typeof (globalThis as any).counted"))
    debug.attach()
    debug.break_at(COUNTED, 2)
    cell = debug.run(COUNTED)
    debug.stopped()
    debug.body("terminate")
    seen["terminate"] = [debug.event("terminated"), debug.ended(cell)[0], debug.body("debugInfo")["isStarted"]]
finally:
    debug.close()
print(json.dumps(seen))
