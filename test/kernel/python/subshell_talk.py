"""Subshells: cells that run while a cell of the main shell awaits."""

WAIT = "let {0} = () => {{}}; console.log('waits'); await new Promise<void>((go) => {{ {0} = go }}); '{1}'"


def opened(talk):
    return talk.ask("create_subshell_request", {}, channel="control")["subshell_id"]


def closed(talk, subshell):
    talk.ask("delete_subshell_request", {"subshell_id": subshell}, channel="control")


def begun(talk, name, value, subshell=None):
    """Runs a cell that waits until `name()` is called."""
    request = talk.say("shell", "execute_request", {"code": WAIT.format(name, value)}, subshell=subshell)
    talk.outputs(request, until="stream")
    return request


def ended(talk, request):
    talk.outputs(request)
    talk.reply(request)


def managed(talk):
    talk.ask("list_subshell_request", {}, channel="control")
    subshell = opened(talk)
    talk.ask("list_subshell_request", {}, channel="control")
    closed(talk, subshell)
    closed(talk, subshell)
    talk.ask("delete_subshell_request", {}, channel="control")
    talk.ask("execute_request", {"code": "1"}, subshell=subshell)
    talk.ask("complete_request", {"code": "1", "cursor_pos": 1}, subshell=subshell)


def beside(talk):
    subshell = opened(talk)
    main = begun(talk, "goMain", "of the main shell")
    talk.ask("execute_request", {"code": "const beside = [1, 2]; beside"}, subshell=subshell)
    talk.ask("execute_request", {"code": "setTimeout(() => goMain(), 100); 'called'"}, subshell=subshell)
    ended(talk, main)
    talk.run("beside.length")
    closed(talk, subshell)


def failing(talk):
    subshell = opened(talk)
    main = begun(talk, "goMain", "main")
    behind_main = talk.say("shell", "execute_request", {"code": "'behind main'"})
    other = begun(talk, "goOther", "other", subshell)
    failed = talk.say("shell", "execute_request", {"code": "throw new RangeError('of a subshell')"}, subshell=subshell)
    behind_other = talk.say("shell", "execute_request", {"code": "'never'"}, subshell=subshell)
    # One after another, because the order of messages from two shells is not defined.
    talk.ask("execute_request", {"code": "goOther()", "silent": True}, subshell=opened(talk))
    ended(talk, other)
    ended(talk, failed)
    ended(talk, behind_other)
    talk.ask("execute_request", {"code": "setTimeout(() => goMain(), 50)", "silent": True}, subshell=subshell)
    ended(talk, main)
    ended(talk, behind_main)


def interrupted(talk):
    subshell = opened(talk)
    main = begun(talk, "goMain", "main")
    loop = talk.say("shell", "execute_request", {"code": "console.log('loops'); while (true);"}, subshell=subshell)
    talk.outputs(loop, until="stream")
    request = talk.say("control", "interrupt_request", {})
    ended(talk, main)
    ended(talk, loop)
    talk.reply(request, "control")
    talk.ask("execute_request", {"code": "beside"}, subshell=subshell)


def closing(talk):
    subshell = opened(talk)
    other = begun(talk, "goOther", "to its end", subshell)
    behind = talk.say("shell", "execute_request", {"code": "'never'"}, subshell=subshell)
    request = talk.say("control", "delete_subshell_request", {"subshell_id": subshell})
    ended(talk, behind)
    talk.reply(request, "control")
    talk.run("setTimeout(() => goOther(), 50)", silent=True)
    ended(talk, other)


def asking(talk):
    subshell = opened(talk)
    main = begun(talk, "goMain", "main")
    request = talk.say("shell", "execute_request", {"code": "await input('which? ')"}, subshell=subshell)
    talk.outputs(request, answers=[talk.answer("this")])
    talk.reply(request)
    talk.ask("execute_request", {"code": "setTimeout(() => goMain(), 50)", "silent": True}, subshell=subshell)
    ended(talk, main)


ALL = {
    "subshells are opened, listed and closed": managed,
    "a cell of a subshell runs while one of the main shell awaits, with the same variables": beside,
    "a cell that fails ends those behind it in its own shell alone": failing,
    "an interrupt ends the cells of all shells": interrupted,
    "a subshell that is closed drops its waiting cells, and one that runs comes to its end": closing,
    "a cell of a subshell asks whom the client is": asking,
}
