// The official TypeScript SDK's client makes one call at a URL, and prints what it hears of it, a JSON object a line.
// node ts_resuming_client.mjs NODE_MODULES URL TOOL [SESSION LAST_EVENT_ID]
// With the last two it goes on with a call of a client that has ended. It answers a question once there is a line on
// stdin.
import { once } from "node:events";
import { createRequire } from "node:module";
import { createInterface } from "node:readline";

const [, , modules, url, name, sessionId, resumptionToken] = process.argv;
const require = createRequire(`${modules}/package.json`);
const { Client } = require("@modelcontextprotocol/sdk/client/index.js");
const { StreamableHTTPClientTransport } = require("@modelcontextprotocol/sdk/client/streamableHttp.js");
const types = require("@modelcontextprotocol/sdk/types.js");

const tell = (what) => console.log(JSON.stringify(what));
const gate = once(createInterface({ input: process.stdin }), "line");
const client = new Client({ name: "theirs", version: "1" }, { capabilities: { elicitation: {} } });
client.setNotificationHandler(types.LoggingMessageNotificationSchema, (one) => tell({ line: one.params.data }));
client.setRequestHandler(types.ElicitRequestSchema, async () => {
  tell({ asked: true });
  await gate;
  return { action: "accept", content: { value: "Ada" } };
});
const transport = new StreamableHTTPClientTransport(new URL(url), {
  sessionId,
  reconnectionOptions: {
    initialReconnectionDelay: 100, maxReconnectionDelay: 1000, reconnectionDelayGrowFactor: 2, maxRetries: 5,
  },
});
await client.connect(transport);
tell({ session: transport.sessionId });
const answer = client.callTool({ name, arguments: {} }, undefined, {
  onprogress: (one) => tell({ progress: one.progress }),
  onresumptiontoken: (token) => tell({ token }),
  resumptionToken,
});
await answer.then((result) => tell({ result: result.content[0].text }), (error) => tell({ error: error.code }));
