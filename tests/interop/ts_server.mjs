// A server made with the official TypeScript SDK, over HTTP, with the SDK's own event store in memory.
// node ts_server.mjs NODE_MODULES RETRY
// It prints its port, then "said N" for each step of `work`; a line on stdin opens the gate in it for good.
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import { createInterface } from "node:readline";

const [, , modules, retry] = process.argv;
const require = createRequire(`${modules}/package.json`);
const { McpServer } = require("@modelcontextprotocol/sdk/server/mcp.js");
const { StreamableHTTPServerTransport } = require("@modelcontextprotocol/sdk/server/streamableHttp.js");
const { InMemoryEventStore } = require("@modelcontextprotocol/sdk/examples/shared/inMemoryEventStore.js");
const { ElicitResultSchema } = require("@modelcontextprotocol/sdk/types.js");
const { z } = require("zod");

const gate = once(createInterface({ input: process.stdin }), "line");
const eventStore = new InMemoryEventStore();
const sessions = new Map();
let runs = 0;

// The store sorts by ids that hold the millisecond; what is said within one has no order.
async function nextMillisecond() {
  for (const began = Date.now(); Date.now() === began;) await new Promise((resolve) => setTimeout(resolve, 1));
}

function makeServer() {
  const server = new McpServer({ name: "typescript", version: "1" }, { capabilities: { logging: {} } });
  server.registerTool("work", { inputSchema: { closes: z.boolean() } }, async ({ closes }, extra) => {
    const run = ++runs;
    const say = async (...steps) => {
      for (const step of steps) {
        await nextMillisecond();
        const params = { progressToken: extra._meta.progressToken, progress: step };
        await extra.sendNotification({ method: "notifications/progress", params });
        await nextMillisecond();
        await extra.sendNotification({ method: "notifications/message", params: { level: "info", data: `line ${step}` } });
        console.log(`said ${step}`);
      }
    };
    await say(1, 2, 3);
    if (closes) extra.closeSSEStream();
    else await gate;
    await say(4, 5, 6);
    await nextMillisecond();
    const requestedSchema = { type: "object", properties: { value: { type: "string" } }, required: ["value"] };
    const question = { method: "elicitation/create", params: { message: "Name?", requestedSchema } };
    const answer = await extra.sendRequest(question, ElicitResultSchema);
    await say(7, 8, 9);
    await nextMillisecond();
    return { content: [{ type: "text", text: `run ${run} for ${answer.content.value}` }] };
  });
  return server;
}

const http = createServer(async (request, response) => {
  let transport = sessions.get(request.headers["mcp-session-id"]);
  if (transport === undefined) {
    transport = new StreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      eventStore,
      retryInterval: Number(retry),
      onsessioninitialized: (id) => { sessions.set(id, transport); },
    });
    await makeServer().connect(transport);
  }
  await transport.handleRequest(request, response);
});
http.listen(0, "127.0.0.1", () => console.log(http.address().port));
