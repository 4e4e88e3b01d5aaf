"""Exchanges messages with one kernel and prints each exchange as a page of text: one JSON object, page by title."""

import json

import ask_talk
import comm_talk
import execute_talk
import stdin_talk
import subshell_talk
from talk import Talk, leave_a_session

leave_a_session()
talk = Talk()
pages = {}
try:
    for conversations in (stdin_talk, comm_talk, subshell_talk, execute_talk, ask_talk):
        for title, conversation in conversations.ALL.items():
            talk.begin()
            conversation(talk)
            pages[title] = talk.page()
finally:
    talk.close()
print(json.dumps(pages))
