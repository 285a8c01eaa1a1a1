// A server of tasks (2025-11-25) made with the official TypeScript SDK, on stdio.
// node ts_tasks_server.mjs NODE_MODULES
import { createRequire } from "node:module";

const [, , modules] = process.argv;
const require = createRequire(`${modules}/package.json`);
const { McpServer } = require("@modelcontextprotocol/sdk/server/mcp.js");
const { StdioServerTransport } = require("@modelcontextprotocol/sdk/server/stdio.js");
const { InMemoryTaskMessageQueue, InMemoryTaskStore } = require("@modelcontextprotocol/sdk/experimental/tasks");
const { ElicitResultSchema } = require("@modelcontextprotocol/sdk/types.js");
const { z } = require("zod");

const server = new McpServer({ name: "typescript", version: "1" }, {
  capabilities: { logging: {}, tasks: { list: {}, cancel: {}, requests: { tools: { call: {} } } } },
  taskStore: new InMemoryTaskStore(),
  taskMessageQueue: new InMemoryTaskMessageQueue(),
});
const text = (said) => ({ content: [{ type: "text", text: said }] });

function task(name, taskSupport, inputSchema, work) {
  server.experimental.tasks.registerToolTask(name, { inputSchema, execution: { taskSupport } }, {
    async createTask(args, extra) {
      const created = await extra.taskStore.createTask({ ttl: extra.taskRequestedTtl ?? 60_000, pollInterval: 50 });
      const { taskId } = created;
      const end = (status, result) => extra.taskStore.storeTaskResult(taskId, status, result).catch(() => null);
      work(args, { ...extra, taskId }).then(
        (result) => end(result.isError ? "failed" : "completed", result),
        (error) => end("failed", { ...text(String(error)), isError: true }),
      );
      return { task: created };
    },
    getTask: (args, extra) => extra.taskStore.getTask(extra.taskId),
    getTaskResult: (args, extra) => extra.taskStore.getTaskResult(extra.taskId),
  });
}

task("count", "optional", { n: z.number() }, async ({ n }, extra) => {
  const progressToken = extra._meta?.progressToken;
  for (let step = 1; step <= n; step += 1) {
    await extra.taskStore.updateTaskStatus(extra.taskId, "working", `step ${step}`);
    if (progressToken !== undefined) {
      const params = { progressToken, progress: step, total: n };
      await extra.sendNotification({ method: "notifications/progress", params });
    }
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  return text("counted");
});
task("fail", "optional", {}, async () => ({ ...text("no such city"), isError: true }));
task("ask", "required", {}, async (args, extra) => {
  const requestedSchema = { type: "object", properties: { value: { type: "string" } }, required: ["value"] };
  await extra.taskStore.updateTaskStatus(extra.taskId, "input_required");
  const question = { method: "elicitation/create", params: { message: "Name?", requestedSchema } };
  const answer = await extra.sendRequest(question, ElicitResultSchema, { relatedTask: { taskId: extra.taskId } });
  await extra.taskStore.updateTaskStatus(extra.taskId, "working");
  return text(`${answer.action} ${answer.content?.value}`);
});
task("wait", "required", {}, async (args, extra) => {
  await extra.taskStore.updateTaskStatus(extra.taskId, "working", "waiting");
  await new Promise(() => {});
});
server.registerTool("plain", {}, async () => text("plain"));
process.stdin.on("end", () => process.exit(0)); // tasks that are kept would hold it up
await server.connect(new StdioServerTransport());
