"""Prompts of a cell for the user."""

import time


def asks(talk):
    talk.run("const who = await input('Who? '); who.length", answers=[talk.answer("Ada")])


def password(talk):
    talk.run("(await input('Key: ', { password: true })).toUpperCase()", answers=[talk.answer("s3")])


def two_at_once(talk):
    talk.run(
        "await Promise.all([input('1? '), input('2? ')])",
        answers=[talk.answer("one"), talk.answer("two")],
    )


def synchronous(talk):
    talk.run(
        "[prompt('Name?'), prompt('City?', 'Oslo'), confirm('Sure?')].join()",
        answers=[talk.answer("Grüße 😀"), talk.answer(""), talk.answer("y")],
    )


def nobody(talk):
    talk.run("await input('Who? ')", allow_stdin=False)
    talk.run("prompt('Who?')", allow_stdin=False)


def interrupted(code):
    def conversation(talk):
        def interrupt(question):
            request = talk.say("control", "interrupt_request", {})
            talk.reply(request, "control")
            # This reply is late, because the cell no longer waits for it. The reply must not answer
            # a later prompt.
            talk.say("stdin", "input_reply", {"value": "late"}, parent=question)

        talk.run(f"const kept = 'kept'; {code}", answers=[interrupt])
        talk.run("kept + await input('Again? ')", answers=[talk.answer("!")])

    return conversation


def stray(talk):
    talk.say("stdin", "input_reply", {"value": "nobody asked"})
    time.sleep(0.1)
    talk.run("await input('Now? ')", answers=[talk.answer("yes")])


def late(talk):
    request = talk.say("shell", "execute_request", {"code": "setTimeout(async () => console.log(await input('Later? ')), 150); 1"})
    talk.outputs(request)
    talk.reply(request)
    talk.outputs(request, until="stream", answers=[talk.answer("done")])


ALL = {
    "input asks the client that ran the cell": asks,
    "a password is asked for as one": password,
    "two questions at once are asked one after the other": two_at_once,
    "prompt and confirm wait for their answers": synchronous,
    "a client that takes no questions is not asked": nobody,
    "an interrupt ends a cell that waits for an answer": interrupted("await input('Wait? ')"),
    "an interrupt ends a cell that waits for an answer in prompt": interrupted("prompt('Wait?')"),
    "an answer that nobody asked for is dropped": stray,
    "a timer of an earlier cell asks its client": late,
}
