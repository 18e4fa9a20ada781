// The npm packages openai and ai, unchanged, against a running server.
//   node node_clients.mjs http://127.0.0.1:3000
// Nothing is said about the words of a model that knows nothing: only what must hold for every model.
// Ends with one line `N passed, N failed, N skipped`.
import assert from "node:assert/strict";

import { createOpenAI } from "@ai-sdk/openai";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { generateText, stepCountIs, streamText, tool } from "ai";
import OpenAI from "openai";
import { z } from "zod";

const base = process.argv[2];
const client = new OpenAI({ baseURL: `${base}/v1`, apiKey: "any", maxRetries: 0 });
const model = "smolbot";
const hello = [{ role: "user", content: "Say hello." }];
const short = { model, messages: hello, max_completion_tokens: 24 };

const weather = {
  type: "function",
  function: {
    name: "get_weather",
    description: "The weather in a city",
    parameters: {
      type: "object",
      properties: { city: { type: "string", maxLength: 20 } },
      required: ["city"],
      additionalProperties: false,
    },
  },
};

async function streamed(request) {
  let content = "";
  let reasoning = "";
  let usage = null;
  for await (const chunk of await client.chat.completions.create({
    ...request,
    stream: true,
    stream_options: { include_usage: true },
  })) {
    content += chunk.choices[0]?.delta.content ?? "";
    reasoning += chunk.choices[0]?.delta.reasoning_content ?? "";
    usage = chunk.usage ?? usage;
  }
  return { content, reasoning, usage };
}

// A bias with which no answer comes to its end by itself.
async function neverEnding() {
  const bias = {};
  for (const content of ["<|im_end|>", "<|end_of_text|>"]) {
    const answer = await fetch(`${base}/tokenize`, { method: "POST", body: JSON.stringify({ content }) });
    bias[(await answer.json()).tokens[0]] = -100;
  }
  return bias;
}

async function cancelledTurns() {
  const text = await (await fetch(`${base}/metrics`)).text();
  return Number(/^smolbot_turns_cancelled_total ([0-9.e+]+)$/m.exec(text)[1]);
}

const tests = {
  async "openai: chat"() {
    const answer = await client.chat.completions.create(short);
    assert.equal(answer.object, "chat.completion");
    assert.equal(typeof answer.choices[0].message.content, "string");
    assert.ok(["stop", "length"].includes(answer.choices[0].finish_reason));
    assert.equal(answer.usage.total_tokens, answer.usage.prompt_tokens + answer.usage.completion_tokens);
  },

  async "openai: a stream adds up to the whole answer"() {
    const request = { ...short, seed: 11, temperature: 0.8 };
    const whole = await client.chat.completions.create(request);
    const parts = await streamed(request);
    assert.equal(parts.content, whole.choices[0].message.content);
    assert.equal(parts.reasoning, whole.choices[0].message.reasoning_content ?? "");
    assert.equal(parts.usage.completion_tokens, whole.usage.completion_tokens);
  },

  async "openai: the stream helper"() {
    const runner = client.chat.completions.stream(short);
    const final = await runner.finalChatCompletion();
    assert.equal(typeof final.choices[0].message.content, "string");
  },

  async "openai: the same seed gives the same answer"() {
    const request = { ...short, seed: 5, temperature: 1 };
    const [one, two] = [await client.chat.completions.create(request), await client.chat.completions.create(request)];
    assert.equal(one.choices[0].message.content, two.choices[0].message.content);
  },

  async "openai: n answers"() {
    const answer = await client.chat.completions.create({ ...short, n: 3, seed: 1 });
    assert.deepEqual(answer.choices.map((choice) => choice.index), [0, 1, 2]);
  },

  async "openai: a stop string does not show"() {
    const request = { ...short, temperature: 0, reasoning_effort: "none" };
    const whole = await client.chat.completions.create(request);
    const text = whole.choices[0].message.content;
    assert.ok(text.length > 2, `too short to be cut: ${text}`);
    const stop = text.slice(1, 3);
    const cut = await client.chat.completions.create({ ...request, stop: [stop] });
    assert.equal(cut.choices[0].message.content, text.slice(0, text.indexOf(stop)));
    assert.equal(cut.choices[0].finish_reason, "stop");
  },

  async "openai: logprobs join to the content"() {
    const answer = await client.chat.completions.create({
      ...short, logprobs: true, top_logprobs: 3, temperature: 0, reasoning_effort: "none" });
    const tokens = answer.choices[0].logprobs.content;
    const bytes = Buffer.from(tokens.flatMap((token) => token.bytes));
    assert.equal(bytes.toString("utf8"), answer.choices[0].message.content);
    for (const token of tokens) {
      assert.equal(token.top_logprobs.length, 3);
      assert.ok(token.logprob <= 0 && token.top_logprobs[0].logprob >= token.logprob);
    }
  },

  async "openai: a tool call and its round trip"() {
    const request = { model, messages: [{ role: "user", content: "Weather in Rome?" }], tools: [weather],
                      max_completion_tokens: 200 };
    const called = await client.chat.completions.create({ ...request, tool_choice: "required" });
    assert.equal(called.choices[0].finish_reason, "tool_calls");
    const call = called.choices[0].message.tool_calls[0];
    assert.equal(call.function.name, "get_weather");
    assert.equal(typeof JSON.parse(call.function.arguments).city, "string");
    const answer = await client.chat.completions.create({
      ...request,
      max_completion_tokens: 24,
      tool_choice: "none",
      messages: [...request.messages, called.choices[0].message,
                 { role: "tool", tool_call_id: call.id, content: "sunny" }],
    });
    assert.equal(typeof answer.choices[0].message.content, "string");
  },

  async "openai: a named tool streams the arguments it returns whole"() {
    const request = { model, messages: hello, tools: [weather], seed: 3, max_completion_tokens: 200,
                      tool_choice: { type: "function", function: { name: "get_weather" } } };
    const whole = await client.chat.completions.create(request);
    let text = "";
    for await (const chunk of await client.chat.completions.create({ ...request, stream: true })) {
      text += chunk.choices[0]?.delta.tool_calls?.[0]?.function?.arguments ?? "";
    }
    assert.equal(text, whole.choices[0].message.tool_calls[0].function.arguments);
  },

  async "openai: a JSON schema holds"() {
    const schema = { type: "object", properties: { ok: { type: "boolean" } }, required: ["ok"],
                     additionalProperties: false };
    const answer = await client.chat.completions.create({
      ...short, max_completion_tokens: 200,
      response_format: { type: "json_schema", json_schema: { name: "verdict", strict: true, schema } } });
    assert.equal(typeof JSON.parse(answer.choices[0].message.content).ok, "boolean");
  },

  async "openai: an aborted stream cancels its turn"() {
    const before = await cancelledTurns();
    const stream = await client.chat.completions.create({
      model, messages: hello, stream: true, max_completion_tokens: 4000, logit_bias: await neverEnding() });
    for await (const chunk of stream) {
      if (chunk.choices[0]?.delta.content || chunk.choices[0]?.delta.reasoning_content) {
        stream.controller.abort();
      }
    }
    const deadline = Date.now() + 2000;
    while ((await cancelledTurns()) === before && Date.now() < deadline) {
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    assert.equal(await cancelledTurns(), before + 1);
  },

  async "openai: embeddings (base64 by itself)"() {
    const answer = await client.embeddings.create({ model, input: ["red", "blue"] });
    assert.equal(answer.data.length, 2);
    const plain = await client.embeddings.create({ model, input: "red", encoding_format: "float" });
    assert.deepEqual(answer.data[0].embedding.map((x) => Math.fround(x)),
                     plain.data[0].embedding.map((x) => Math.fround(x)));
  },

  async "openai: models"() {
    const models = [];
    for await (const one of client.models.list()) {
      models.push(one.id);
    }
    assert.equal((await client.models.retrieve(models[0])).id, models[0]);
  },

  async "openai: completions"() {
    const answer = await client.completions.create({ model, prompt: "Once", max_tokens: 4, echo: true });
    assert.ok(answer.choices[0].text.startsWith("Once"));
  },

  async "openai: errors are of their classes"() {
    await assert.rejects(client.chat.completions.create({ ...short, temperature: 9 }),
                         (error) => error instanceof OpenAI.BadRequestError && error.param === "temperature");
    await assert.rejects(client.chat.completions.create({ ...short, model: "gpt-4" }),
                         (error) => error instanceof OpenAI.NotFoundError && error.code === "model_not_found");
  },

  async "ai: generateText (openai-compatible)"() {
    const provider = createOpenAICompatible({ name: "smolbot", baseURL: `${base}/v1` });
    const answer = await generateText({ model: provider(model), prompt: "Say hello.", maxOutputTokens: 24 });
    assert.equal(typeof answer.text, "string");
    assert.ok(answer.usage.outputTokens > 0);
  },

  async "ai: streamText (openai-compatible)"() {
    const provider = createOpenAICompatible({ name: "smolbot", baseURL: `${base}/v1`, includeUsage: true });
    const answer = streamText({ model: provider(model), prompt: "Say hello.", maxOutputTokens: 24 });
    let text = "";
    for await (const part of answer.textStream) {
      text += part;
    }
    assert.equal(text, await answer.text);
    assert.ok((await answer.usage).outputTokens > 0);
  },

  async "ai: a tool with its round trip"() {
    const provider = createOpenAICompatible({ name: "smolbot", baseURL: `${base}/v1` });
    let asked = null;
    await generateText({
      model: provider(model),
      prompt: "Weather in Rome?",
      maxOutputTokens: 200,
      toolChoice: { type: "tool", toolName: "get_weather" },
      tools: {
        get_weather: tool({
          description: "The weather in a city",
          inputSchema: z.object({ city: z.string().max(20) }),
          execute: async ({ city }) => {
            asked = city;
            return "sunny";
          },
        }),
      },
      stopWhen: stepCountIs(1),
    });
    assert.equal(typeof asked, "string");
  },

  async "ai: createOpenAI().chat()"() {
    const provider = createOpenAI({ baseURL: `${base}/v1`, apiKey: "any" });
    const answer = await generateText({ model: provider.chat(model), prompt: "Say hello.", maxOutputTokens: 24 });
    assert.equal(typeof answer.text, "string");
  },
};

let passed = 0;
let failed = 0;
for (const [name, test] of Object.entries(tests)) {
  try {
    await test();
    passed += 1;
  } catch (error) {
    failed += 1;
    console.log(`FAILED ${name}\n${error.stack ?? error}`);
  }
}
console.log(`${passed} passed, ${failed} failed, 0 skipped`);
process.exit(failed === 0 ? 0 : 1);
