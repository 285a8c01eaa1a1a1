// What the official TypeScript SDK's client sees of a server at a URL, as one JSON object on stdout.
// node ts_client.mjs NODE_MODULES URL AUTHORIZATION
import { createRequire } from "node:module";

const [, , modules, url, authorization] = process.argv;
const require = createRequire(`${modules}/package.json`);
const { Client } = require("@modelcontextprotocol/sdk/client/index.js");
const { StreamableHTTPClientTransport } = require("@modelcontextprotocol/sdk/client/streamableHttp.js");
const types = require("@modelcontextprotocol/sdk/types.js");

const told = [];
const lines = [];
const progress = [];
const client = new Client(
  { name: "theirs", version: "1" },
  { capabilities: { elicitation: {}, sampling: {}, roots: {} } },
);
client.setRequestHandler(types.ElicitRequestSchema, async () => ({ action: "accept", content: { first: "Ada" } }));
client.setRequestHandler(types.CreateMessageRequestSchema, async () => ({
  role: "assistant", content: { type: "text", text: "Hello" }, model: "m",
}));
client.setRequestHandler(types.ListRootsRequestSchema, async () => ({ roots: [{ uri: "file:///a" }] }));
client.setNotificationHandler(types.LoggingMessageNotificationSchema, (one) => { lines.push(one.params.level); });
client.setNotificationHandler(types.ToolListChangedNotificationSchema, () => { told.push("tools"); });
client.setNotificationHandler(types.ResourceUpdatedNotificationSchema, (one) => { told.push(one.params.uri); });

const transport = new StreamableHTTPClientTransport(new URL(url), {
  requestInit: { headers: { Authorization: authorization } },
});
await client.connect(transport);

async function until(condition) {
  const end = Date.now() + 10_000;
  while (!condition() && Date.now() < end) await new Promise((resolve) => setTimeout(resolve, 10));
}
const text = async (name, args = {}, options = {}) =>
  (await client.callTool({ name, arguments: args }, undefined, options)).content.map((block) => block.text).join("");

const seen = { server: client.getServerVersion().name, instructions: client.getInstructions() };
seen.session = transport.sessionId !== undefined;
seen.revision = transport.protocolVersion;
seen.tools = [];
let cursor;
do {
  const page = await client.listTools({ cursor });
  seen.tools.push(...page.tools.map((tool) => tool.name));
  cursor = page.nextCursor;
} while (cursor !== undefined);
seen.sum = (await client.callTool({ name: "add", arguments: { a: 1, b: 2 } })).structuredContent;
seen.wrong = (await client.callTool({ name: "add", arguments: { a: "one" } })).isError;
seen.unknown = await client.callTool({ name: "zzz", arguments: {} }).then(() => null, (error) => error.code);
await text("count", { n: 3 }, { onprogress: (one) => progress.push(one.progress) });
seen.progress = progress;
await client.setLoggingLevel("critical");
await text("log");
seen.asked = await text("ask");
seen.thought = await text("think");
seen.roots = await text("roots");
seen.resource = (await client.readResource({ uri: "notes://readme" })).contents[0].text;
seen.prompt = (await client.getPrompt({ name: "greet", arguments: { name: "Ada" } })).messages[0].content.text;
await client.subscribeResource({ uri: "notes://readme" });
await text("touch", { uri: "notes://readme" });
await text("change");
await until(() => told.includes("tools") && told.includes("notes://readme") && lines.length >= 3);
seen.told = [...new Set(told)].sort();
seen.lines = lines;
const stopped = new AbortController();
setTimeout(() => stopped.abort("enough"), 200);
seen.stopped = await client.callTool({ name: "wait", arguments: {} }, undefined, { signal: stopped.signal })
  .then(() => null, (error) => String(error.message ?? error));
await until(() => false || true);
seen.seen = await text("seen");
await transport.terminateSession();
seen.after = await text("add", { a: 1 }).then(() => null, (error) => error.code ?? String(error));
await client.close();
console.log(JSON.stringify(seen));
process.exit(0);
