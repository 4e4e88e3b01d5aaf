"""Comms opened by the notebook or the client."""


def opened_here(talk):
    talk.run(
        "const line = comms.open('chart', { size: 2 }, { buffers: [new Uint8Array([1, 2, 255])] });"
        " line.on('message', ({ data, buffers }) => { console.log('got', data, buffers[0]?.length);"
        " line.send({ seen: true }, { buffers: [...buffers, new Uint8Array(0)] }) });"
        " line.on('close', ({ data }) => console.log('closed', data, line.isOpen))"
    )
    talk.ask("comm_info_request", {})
    # The comm outlives its cell, and other cells can use it.
    comm_id = talk.comm_id()
    request = talk.say("shell", "comm_msg", {"comm_id": comm_id, "data": {"value": 5}}, buffers=[b"\x00\xff\x07"])
    talk.outputs(request)
    talk.run("line.send('from another cell'); line.isOpen")
    request = talk.say("shell", "comm_close", {"comm_id": comm_id, "data": {"why": "done"}})
    talk.outputs(request)
    talk.run("line.isOpen || line.send('nobody hears')")
    talk.ask("comm_info_request", {"target_name": "chart"})


def opened_there(talk):
    talk.run(
        "const stop = comms.register('echo', (line, { data }) => { line.send({ hello: data });"
        " line.on('message', async ({ data }) => { await 0; line.close(data) }) })"
    )
    comm_id = "11111111-2222-3333-4444-555555555555"
    talk.outputs(talk.say("shell", "comm_open", {"comm_id": comm_id, "target_name": "echo", "data": {"name": "Ada"}}))
    talk.ask("comm_info_request", {"target_name": "echo"})
    request = talk.say("shell", "comm_msg", {"comm_id": comm_id, "data": {"last": "word"}})
    talk.outputs(request, until="comm_close")
    talk.run("stop()")
    talk.outputs(talk.say("shell", "comm_open", {"comm_id": comm_id, "target_name": "echo", "data": {}}), until="comm_close")


def unknown(talk):
    comm_id = "99999999-2222-3333-4444-555555555555"
    talk.outputs(talk.say("shell", "comm_open", {"comm_id": comm_id, "target_name": "nobody", "data": {}}))
    talk.outputs(talk.say("shell", "comm_msg", {"comm_id": comm_id, "data": {}}))
    talk.ask("comm_info_request", {})


def failing(talk):
    talk.run("comms.register('bad', () => { throw new RangeError('of a handler') })")
    cell = talk.last_request
    comm_id = "77777777-2222-3333-4444-555555555555"
    talk.say("shell", "comm_open", {"comm_id": comm_id, "target_name": "bad", "data": {}})
    # The error must appear in the cell that set the handler, because a user looks there.
    talk.outputs(cell, until="error")
    talk.run("comms.open('x', 5n)")


def beside_a_cell(talk):
    talk.run("let total = 0; comms.register('sum', (_, { data }) => { total += Number(data) })")
    cell = talk.say("shell", "execute_request", {"code": "while (total < 3) await new Promise((go) => setTimeout(go, 5)); total"})
    for value in (1, 2):
        talk.say("shell", "comm_open", {"comm_id": f"{value}5555555-2222-3333-4444-555555555555", "target_name": "sum", "data": value})
    talk.outputs(cell)
    talk.reply(cell)


ALL = {
    "a comm of the notebook sends and gets messages with buffers, also after its cell": opened_here,
    "a comm of the client reaches the handler of its target": opened_there,
    "a comm to a target that nobody registered is closed": unknown,
    "what a handler of a comm throws is shown in the cell that gave it": failing,
    "messages of comms are handled while a cell waits": beside_a_cell,
}
