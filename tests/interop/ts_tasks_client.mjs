// The official TypeScript SDK's client runs tools of a server at a URL as tasks (2025-11-25), and prints what it hears:
// a JSON object a line.
// node ts_tasks_client.mjs NODE_MODULES URL
import { createRequire } from "node:module";

const [, , modules, url] = process.argv;
const require = createRequire(`${modules}/package.json`);
const { Client } = require("@modelcontextprotocol/sdk/client/index.js");
const { StreamableHTTPClientTransport } = require("@modelcontextprotocol/sdk/client/streamableHttp.js");
const { InMemoryTaskStore } = require("@modelcontextprotocol/sdk/experimental/tasks");
const types = require("@modelcontextprotocol/sdk/types.js");

const tell = (what) => console.log(JSON.stringify(what));
const client = new Client({ name: "theirs", version: "1" }, {
  capabilities: {
    elicitation: {},
    tasks: { list: {}, cancel: {}, requests: { elicitation: { create: {} } } },
  },
  taskStore: new InMemoryTaskStore(),
});
client.setRequestHandler(types.ElicitRequestSchema, async (request) => {
  tell({ asked: request.params._meta?.["io.modelcontextprotocol/related-task"]?.taskId ?? null });
  return { action: "accept", content: { value: "Ada" } };
});
client.setNotificationHandler(types.TaskStatusNotificationSchema, (one) => tell({ status: one.params.status }));
await client.connect(new StreamableHTTPClientTransport(new URL(url)));
const { tasks } = client.experimental;
const { tools } = await client.listTools();
tell({ support: Object.fromEntries(tools.map((tool) => [tool.name, tool.execution?.taskSupport ?? null])) });

async function run(name, args = {}, options = {}) {
  const onprogress = (one) => tell({ name, progress: one.progress });
  const stream = tasks.callToolStream({ name, arguments: args }, undefined, { task: { ttl: 60_000 }, onprogress, ...options });
  let taskId;
  for await (const message of stream) {
    if (message.type === "taskCreated") ({ taskId } = message.task);
    if (message.type === "error") tell({ name, error: message.error.code });
    else if (message.type === "result") tell({ name, result: message.result.content[0].text, failed: message.result.isError ?? false });
    else tell({ name, [message.type]: message.task.status });
  }
  return taskId;
}

const counted = await run("count", { n: 3 });
tell({ again: (await tasks.getTaskResult(counted, types.CallToolResultSchema)).content[0].text });
await run("fail");
await run("ask");
const stream = tasks.callToolStream({ name: "wait", arguments: {} }, undefined, { task: { ttl: 60_000 } });
const { task: { taskId } } = (await stream.next()).value;
tell({ cancelled: (await tasks.cancelTask(taskId)).status });
tell({ terminal: await tasks.cancelTask(taskId).then(() => null, (error) => error.code) });
tell({ outcome: await tasks.getTaskResult(taskId, types.CallToolResultSchema).then(() => null, (error) => error.code) });
tell({ unknown: await tasks.getTask("no such task").then(() => null, (error) => error.code) });
tell({ listed: (await tasks.listTasks()).tasks.map((one) => one.status) });
process.exit(0);
