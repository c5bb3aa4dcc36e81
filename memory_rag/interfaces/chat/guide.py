"""How a chat is pointed at a model: the lines that somebody without one is shown."""

from __future__ import annotations

from typing import Final

ENDPOINTS: Final = """\
No model is set. Point this chat at any server that speaks OpenAI's chat API:

  Ollama     ollama serve
             memory-rag chat --base-url http://localhost:11434/v1 --model llama3
  llama.cpp  llama-server -m model.gguf --port 8080
             memory-rag chat --base-url http://localhost:8080/v1 --model local
  vLLM       vllm serve Qwen/Qwen2.5-7B-Instruct
             memory-rag chat --base-url http://localhost:8000/v1 \\
               --model Qwen/Qwen2.5-7B-Instruct
  OpenAI     export OPENAI_API_KEY=...
             memory-rag chat --model gpt-4o-mini

OPENAI_BASE_URL and MEMORY_RAG_CHAT_MODEL do the same as the two options. A key
is read from OPENAI_API_KEY alone; it is never stored or shown.

Until then: say what you want to ask, and its prompt is printed for pasting into
any chat. Paste the answer back, and it is remembered too."""

HELP: Final = """\
/why             what was in the last prompt, and why
/quote WORDS     where words were said, exactly
/search WORDS    what was said about something
/where WORDS     why the model doesn't know something any more
/forget ID ...   remove turns for good; /forget last removes the last exchange
/pin TEXT        a preference that goes into every prompt
/summary [TEXT]  the running summary; made anew to keep what bears on TEXT
/brief           what a new session would know
/again           ask again what got no answer, or a cut-off one
/export [FILE]   this conversation as Markdown, or all of its turns as .jsonl
/help, /quit     Ctrl-D leaves too; Ctrl-C stops an answer and keeps it
A line that ends in \\ goes on in the next."""
