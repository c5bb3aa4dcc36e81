// A small base model behind the part of OpenAI's API that a summarizer asks: POST /v1/chat/completions, one at a time.
// Usage: node serve.mjs FOLDER MODEL.gguf; FOLDER has node_modules. Prints the port once it listens.
import { createServer } from "node:http";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const [folder, modelPath] = process.argv.slice(2);
const found = createRequire(`${folder}/package.json`).resolve("node-llama-cpp");
const { getLlama, LlamaCompletion, LlamaLogLevel } = await import(pathToFileURL(found));

const MOST_TOKENS = 200; // an answer that runs on is cut off, as finish_reason says
const llama = await getLlama({ gpu: false, build: "never", logLevel: LlamaLogLevel.error, maxThreads: 1 });
const model = await llama.loadModel({ modelPath });
const context = await model.createContext({ contextSize: 2048, threads: 1 });
let turn = Promise.resolve();

async function completed(request) {
  const prompt = request.messages.map((message) => message.content).join("\n\n") + "\n\nAnswer:\n";
  const sequence = context.getSequence();
  try {
    const completion = new LlamaCompletion({ contextSequence: sequence });
    const schema = request.response_format?.json_schema?.schema;
    const answer = await completion.generateCompletionWithMeta(model.tokenize(prompt).slice(-1500), {
      maxTokens: Math.min(request.max_tokens ?? MOST_TOKENS, MOST_TOKENS),
      temperature: request.temperature ?? 0,
      grammar: schema && (await llama.createGrammarForJsonSchema(schema)),
    });
    const stopped = answer.metadata.stopReason === "maxTokens" ? "length" : "stop";
    return { text: answer.response, finish_reason: stopped, prompt_tokens: model.tokenize(prompt).length };
  } finally {
    sequence.dispose();
  }
}

const server = createServer(async (incoming, outgoing) => {
  let body = "";
  for await (const part of incoming) body += part;
  const request = JSON.parse(body);
  const send = (status, value) => {
    outgoing.writeHead(status, { "Content-Type": "application/json" });
    outgoing.end(JSON.stringify(value));
  };
  turn = turn
    .then(() => completed(request))
    .then(({ text, finish_reason, prompt_tokens }) => {
      const tokens = model.tokenize(text).length;
      send(200, {
        id: "local",
        object: "chat.completion",
        created: 0,
        model: request.model,
        choices: [{ index: 0, message: { role: "assistant", content: text }, finish_reason }],
        usage: { prompt_tokens, completion_tokens: tokens, total_tokens: prompt_tokens + tokens },
      });
    })
    .catch((error) => send(400, { error: { message: `response_format: ${error.message}` } }));
});
server.listen(0, "127.0.0.1", () => console.log(server.address().port));
