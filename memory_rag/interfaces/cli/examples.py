"""What stands at the end of each command's help: examples, what exit code 1 means, and what may come next.

A test runs every line.
"""

from __future__ import annotations

from typing import Final, NamedTuple


class Example(NamedTuple):
    """A command line, and in a few words what it is good for; nothing where it says so itself."""

    line: str
    why: str = ""


class Page(NamedTuple):
    """The end of one command's help; what is empty isn't shown."""

    examples: tuple[Example, ...] = ()
    next: str = ""
    ends_with_1: str = ""
    title: str = "Examples"


def page_of(command_path: str) -> Page:
    """Return the page of a command by the words that call it, such as ``memory-rag bench run``."""
    return PAGES.get(command_path.partition(" ")[2], Page())


START: Final = Page(
    (
        Example("memory-rag demo", "look at it first: a minute, nothing to set up"),
        Example("memory-rag import ~/Downloads/chatgpt-export.zip"),
        Example('memory-rag search "what did I say about pricing?"'),
        Example('memory-rag quote "the price is 49 euro"'),
    ),
    "memory-rag COMMAND --help has examples of each command. memory-rag --install-completion lets the TAB key "
    "complete commands, options, and names of memories and conversations.",
    title="First steps",
)

PAGES: Final[dict[str, Page]] = {
    "demo": Page(
        (
            Example("memory-rag demo"),
            Example("memory-rag demo --memory demo", "keep the memory, to ask it more"),
        ),
        "memory-rag import brings in a history of your own.",
    ),
    "chat": Page(
        (
            Example("memory-rag chat", "no server: prints each prompt, for pasting"),
            Example("memory-rag chat --base-url http://localhost:11434/v1 --model llama3", "Ollama"),
            Example("memory-rag chat --conversation trip --speaker Ebba"),
        ),
        "/help in the chat lists its commands; memory-rag serve gives the same memory to any OpenAI client.",
    ),
    "add": Page(
        (
            Example('memory-rag add "The price is 49 euro." --speaker Ebba --conversation pricing'),
            Example('memory-rag add "Noted." --role assistant --conversation pricing'),
            Example("memory-rag add - --role user < notes.txt", "a file, byte for byte"),
        ),
        "memory-rag show ID shows the turn; memory-rag import takes whole histories.",
    ),
    "import": Page(
        (
            Example("memory-rag import ~/Downloads/chatgpt-export.zip --dry-run", "count, store nothing"),
            Example("memory-rag import ~/Downloads/chatgpt-export.zip"),
            Example("memory-rag import 'WhatsApp Chat.txt' --tz Europe/Oslo --date-order dmy"),
            Example("memory-rag import ~/.claude/projects --no-embed", "fast; embedded later"),
        ),
        "memory-rag stats tells what is there, memory-rag search asks it.",
    ),
    "correct": Page(
        (
            Example('memory-rag correct t17 "The price is 59 euro."', "what it was is kept"),
            Example("memory-rag correct t17 --speaker Ebba"),
            Example('memory-rag correct t17 "The price is 59 euro." --drop-old --prove --yes'),
        ),
        "memory-rag show t17 shows the turn and what it was.",
        "if bytes of what was erased are left for now, if the proof doesn't hold, or if nobody agreed",
    ),
    "forget": Page(
        (
            Example("memory-rag forget t17 t18 --dry-run", "show what would go"),
            Example('memory-rag forget --query "my old address" --dry-run'),
            Example("memory-rag forget --speaker Bo --until 2025 --yes --prove"),
        ),
        "A backup that was made before still has the words. memory-rag retain forgets by age.",
        "if bytes are left for now, if the proof doesn't hold, or if nobody agreed",
    ),
    "retain": Page(
        (
            Example("memory-rag retain", "the rules, what will go and when"),
            Example("memory-rag retain --set 365"),
            Example("memory-rag retain --set 30 --role tool"),
            Example("memory-rag retain --dry-run", "which turns would go now"),
        ),
    ),
    "search": Page(
        (
            Example('memory-rag search "what did I say about pricing?"'),
            Example("memory-rag search pricing --role user --since 2026-06 -k 3"),
            Example('memory-rag search "the bakery" --unit conversation', "which talk was it?"),
            Example("memory-rag search 4711-ZX --explain", "why each turn is there"),
        ),
        "memory-rag show ID shows a hit with its neighbours, memory-rag quote finds exact words.",
    ),
    "compare": Page(
        (
            Example('memory-rag compare "what was wrong with the invoice?"'),
            Example("memory-rag compare 4711-ZX -k 3 --json"),
        ),
        "memory-rag bench run own says over 200 questions which is best on your history.",
    ),
    "quote": Page(
        (
            Example('memory-rag quote "the price is 49 euro"'),
            Example('memory-rag quote "49 euro" --role user --limit 3'),
            Example('memory-rag quote "price is 49 euro" --exit-code', "for scripts"),
        ),
        "memory-rag verify checks all quotations of a text at once.",
        "with --exit-code, if nothing is found",
    ),
    "verify": Page(
        (
            Example("memory-rag verify answer.md"),
            Example("memory-rag verify --text 'You said \"the price is 49 euro\".'"),
            Example("memory-rag verify - --json < answer.md", "for scripts"),
        ),
        "memory-rag show ID shows the turn that a verdict names.",
        "with --exit-code, if any quotation is not verbatim",
    ),
    "show": Page(
        (
            Example("memory-rag show t17"),
            Example("memory-rag show t17 --before 5 --after 5"),
            Example("memory-rag show t17 --json"),
        ),
        "memory-rag correct puts a turn right, memory-rag forget removes it.",
    ),
    "summary": Page(
        (
            Example("memory-rag summary --make"),
            Example("memory-rag summary --level lifetime"),
            Example("memory-rag summary --audit", "names and numbers that were dropped"),
            Example('memory-rag summary --conversation main --focus "prices and dates"'),
        ),
        "memory-rag show ID shows the turn behind a line.",
    ),
    "export": Page(
        (
            Example("memory-rag export all.jsonl"),
            Example("memory-rag export memory.md --markdown", "to read"),
            Example("memory-rag export > everything.jsonl"),
        ),
        "memory-rag import all.jsonl --memory again makes the same memory again.",
    ),
    "context": Page(
        (
            Example('memory-rag context "what did I say about pricing?"'),
            Example('memory-rag context "and the price?" --token-budget 2000 --retrieve always'),
            Example('memory-rag context "hello again" --json --for anthropic', "as that API takes it"),
        ),
        "memory-rag where WORDS says why something isn't in the prompt.",
    ),
    "state": Page(
        (
            Example("memory-rag state", "show it"),
            Example("memory-rag state --set customer.name=Ann --set customer.since=2024"),
            Example("memory-rag state --unset customer.since"),
            Example("memory-rag state --proposed", "what the newest summary proposes"),
        ),
    ),
    "pin": Page(
        (
            Example('memory-rag pin "Answer in Swedish."'),
            Example("memory-rag pin", "list them"),
            Example("memory-rag pin --remove p1"),
        ),
    ),
    "decide": Page(
        (
            Example('memory-rag decide "One price." --because "Two confuse people."'),
            Example("memory-rag decide --markdown", "the log, as a page"),
            Example("memory-rag decide --remove d1"),
        ),
    ),
    "pin-file": Page(
        (
            Example("memory-rag pin-file project.md"),
            Example("memory-rag pin-file", "list them"),
            Example("memory-rag pin-file --remove project.md"),
        ),
    ),
    "brief": Page(
        (Example("memory-rag brief"), Example("memory-rag brief --conversation pricing --earlier 2")),
        "memory-rag pin, decide and state say what is in it.",
    ),
    "where": Page(
        (
            Example('memory-rag where "49 euro"'),
            Example('memory-rag where "49 euro" --question "what does the workshop cost?"'),
        ),
    ),
    "events": Page(
        (Example("memory-rag events --newest 10"), Example("memory-rag events --kind compaction --json")),
    ),
    "serve": Page(
        (
            Example("memory-rag serve", "the page and MCP"),
            Example("memory-rag serve --upstream http://127.0.0.1:11434/v1", "and a chat endpoint that remembers"),
            Example("memory-rag serve --host 0.0.0.0 --token-file token --allow-host memory.example"),
        ),
        "Open http://127.0.0.1:8766/ in a browser.",
    ),
    "mcp": Page(
        (
            Example("memory-rag mcp", "over stdin and stdout, as a client starts it"),
            Example("memory-rag mcp --http --port 8765", "http://127.0.0.1:8765/mcp"),
        ),
    ),
    "install": Page(
        (
            Example("memory-rag install claude-code --print", "show the entry, change nothing"),
            Example("memory-rag install claude-code"),
            Example("memory-rag install cursor --scope project --memory ./.memory"),
        ),
        "Start the program anew. memory-rag uninstall takes the entry out again.",
    ),
    "uninstall": Page((Example("memory-rag uninstall claude-code"), Example("memory-rag uninstall vscode"))),
    "hook": Page((Example("memory-rag hook claude-code < event.json", "as Claude Code calls it"),)),
    "scan": Page(
        (
            Example("memory-rag scan"),
            Example("memory-rag scan --tag", "write the spans down for older turns"),
            Example("memory-rag scan --json"),
        ),
        "memory-rag forget and correct mend what it lists.",
        "if something is stored that would be redacted or refused today",
    ),
    "off-record": Page(
        (
            Example("memory-rag off-record", "tell how it is"),
            Example("memory-rag off-record on"),
            Example("memory-rag off-record off"),
        ),
    ),
    "stats": Page(
        (Example("memory-rag stats"), Example("memory-rag stats --conversations"), Example("memory-rag stats --json")),
    ),
    "settings": Page(
        (
            Example("memory-rag settings"),
            Example("memory-rag settings embedder language --json"),
        ),
        "docs/settings.md says what each is for.",
    ),
    "doctor": Page(
        (
            Example("memory-rag doctor"),
            Example("memory-rag doctor --rescue ./rescued", "of a damaged memory, what can be read"),
        ),
        "memory-rag restore takes the words from a backup, memory-rag reindex makes the indexes anew.",
        "if something is not well, or if words were lost in a rescue",
    ),
    "reindex": Page(
        (
            Example("memory-rag reindex"),
            Example("memory-rag reindex --language sv,en", "the memory's languages, remembered"),
            Example("memory-rag reindex --embedder none --prune", "another embedder; the old vectors go"),
        ),
    ),
    "backup": Page(
        (Example("memory-rag backup ~/copies/2026-11-30"),),
        "memory-rag restore ~/copies/2026-11-30 --memory again makes it a memory again.",
    ),
    "migrate": Page(
        (
            Example("memory-rag migrate main ~/memories/again"),
            Example("memory-rag migrate main postgresql://team@db.example/notes --owner ebba", "to a server"),
            Example("memory-rag migrate postgresql://team@db.example/notes main --owner ebba", "and back"),
            Example("memory-rag migrate main ~/memories/again --dry-run", "count, copy nothing"),
        ),
        "memory-rag migrate FROM TO --check compares the two at any time; words and keyword index are made anew.",
        "if the two are not the same to the last byte, or if TO holds something else",
    ),
    "restore": Page(
        (
            Example("memory-rag restore ~/copies/2026-11-29 --memory again"),
            Example("memory-rag restore ~/copies/2026-11-29 --overwrite", "in place of what is there"),
        ),
    ),
    "bench": Page(
        (
            Example("memory-rag bench list"),
            Example("memory-rag bench run own --memory main --n 20 --out report"),
            Example("memory-rag bench run locomo --data locomo10.json --out report"),
        ),
    ),
    "bench list": Page((Example("memory-rag bench list"),), "memory-rag bench run NAME runs one."),
    "bench run": Page(
        (
            Example("memory-rag bench run own --n 20", "on your own memory"),
            Example("memory-rag bench run own --questions mine.tsv --out report", "your own questions"),
            Example("memory-rag bench run chats --limit 20 --retrievers keyword,overlap"),
            Example("memory-rag bench run locomo --data locomo10.json --out report"),
        ),
        "Open report/report.html in a browser; memory-rag bench compare tells two reports apart.",
    ),
    "bench score": Page((Example("memory-rag bench score --run my.run --qrels my.qrels --measures recall@10"),)),
    "bench compare": Page((Example("memory-rag bench compare before after"),)),
    "bench report": Page(
        (
            Example("memory-rag bench report before"),
            Example("memory-rag bench report before --summary summary.json", "without what is per question"),
        ),
    ),
    "bench tune": Page(
        (Example("memory-rag bench tune own --questions mine.tsv --out weights.toml"),),
        "MEMORY_RAG_WEIGHTS=weights.toml uses them.",
    ),
}
"""By the words that call a command."""
