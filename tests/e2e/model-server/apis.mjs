// The four API formats in which agents talk to a model. Each parses a request into one common form,
// and streams an answer piece by piece like its original; without streaming the answer is sent at
// once.
//
//   request: { api, model, isStream, system, messages: [{ role, text }], tools: [{ name, schema }]
//   }
//   role: user, assistant, tool

const partsText = (content) => typeof content === "string" ? content
  : Array.isArray(content) ? content.map((part) => part.text ?? part.content ?? "").map(partsText).join("")
    : content === undefined || content === null ? "" : content.text ?? JSON.stringify(content);

const now = () => Math.floor(Date.now() / 1000);

// OpenAI's chat completions.
const chat = {
  name: "chat",
  isMine: (path) => path.endsWith("/chat/completions"),
  read(body) {
    const all = body.messages ?? [];
    const isSystem = ({ role }) => role === "system" || role === "developer";
    return {
      model: body.model, isStream: body.stream === true,
      system: all.filter(isSystem).map(({ content }) => partsText(content)).join("\n"),
      messages: all.filter((one) => !isSystem(one)).map(({ role, content }) => ({ role, text: partsText(content) })),
      tools: (body.tools ?? []).map(({ function: { name, parameters } }) => ({ name, schema: parameters ?? {} })),
    };
  },
  write(out, { model, id }) {
    const chunk = (delta, reason = null) => out.event({ id, object: "chat.completion.chunk", created: now(), model,
      choices: [{ index: 0, delta, finish_reason: reason }] });
    return {
      begin: () => chunk({ role: "assistant", content: "" }),
      text: (text) => chunk({ content: text }),
      tool: ({ name, input, call }) => chunk({ tool_calls: [{ index: 0, id: call, type: "function",
        function: { name, arguments: JSON.stringify(input) } }] }),
      end(reason) {
        chunk({}, reason === "tool" ? "tool_calls" : "stop");
        out.event({ id, object: "chat.completion.chunk", created: now(), model, choices: [],
          usage: { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 } });
        out.raw("data: [DONE]\n\n");
      },
      whole: ({ text, tool, reason }) => ({ id, object: "chat.completion", created: now(), model, choices: [{ index: 0,
        finish_reason: reason === "tool" ? "tool_calls" : "stop",
        message: { role: "assistant", content: text, ...(tool && { tool_calls: [{ id: tool.call, type: "function",
          function: { name: tool.name, arguments: JSON.stringify(tool.input) } }] }) } }],
      usage: { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 } }),
    };
  },
  error: ({ status, message }) => ({ error: { message, type: status === 429 ? "rate_limit_exceeded" : "server_error",
    code: status === 429 ? "rate_limit_exceeded" : null } }),
};

// OpenAI's responses.
const responses = {
  name: "responses",
  isMine: (path) => path.endsWith("/responses"),
  read(body) {
    const items = typeof body.input === "string" ? [{ type: "message", role: "user", content: body.input }] : body.input ?? [];
    const messages = [];
    for (const item of items) {
      if (item.type === "function_call_output" || item.type === "custom_tool_call_output") {
        messages.push({ role: "tool", text: partsText(item.output) });
      } else if (item.type === "function_call" || item.type === "custom_tool_call") {
        messages.push({ role: "assistant", text: "" });
      } else if ((item.type ?? "message") === "message" && item.role !== "system" && item.role !== "developer") {
        messages.push({ role: item.role, text: partsText(item.content) });
      }
    }
    return { model: body.model, isStream: body.stream === true, system: body.instructions ?? "", messages,
      tools: (body.tools ?? []).filter(({ type }) => type === "function")
        .map(({ name, parameters }) => ({ name, schema: parameters ?? {} })) };
  },
  write(out, { model, id }) {
    const items = [];
    let open = null;
    const response = (status) => ({ id, object: "response", created_at: now(), status, model, output: items,
      usage: { input_tokens: 10, input_tokens_details: { cached_tokens: 0 }, output_tokens: 5,
        output_tokens_details: { reasoning_tokens: 0 }, total_tokens: 15 } });
    const event = (type, more) => out.event({ type, ...more }, type);
    const at = () => items.length;
    const finish = () => {
      if (!open) return;
      const part = { type: "output_text", text: open.text, annotations: [] };
      const item = { id: open.id, type: "message", role: "assistant", status: "completed", content: [part] };
      const where = { item_id: open.id, output_index: at(), content_index: 0 };
      event("response.output_text.done", { ...where, text: open.text });
      event("response.content_part.done", { ...where, part });
      event("response.output_item.done", { output_index: at(), item });
      items.push(item);
      open = null;
    };
    return {
      begin() {
        event("response.created", { response: response("in_progress") });
      },
      text(text) {
        if (!open) {
          open = { id: `msg_${id}_${at()}`, text: "" };
          event("response.output_item.added", { output_index: at(),
            item: { id: open.id, type: "message", role: "assistant", status: "in_progress", content: [] } });
          event("response.content_part.added", { item_id: open.id, output_index: at(), content_index: 0,
            part: { type: "output_text", text: "", annotations: [] } });
        }
        open.text += text;
        event("response.output_text.delta", { item_id: open.id, output_index: at(), content_index: 0, delta: text });
      },
      tool({ name, input, call }) {
        finish();
        const item = { id: `fc_${call}`, type: "function_call", call_id: call, name, arguments: JSON.stringify(input) };
        event("response.output_item.added", { output_index: at(), item: { ...item, arguments: "", status: "in_progress" } });
        event("response.function_call_arguments.delta", { item_id: item.id, output_index: at(), delta: item.arguments });
        event("response.function_call_arguments.done", { item_id: item.id, output_index: at(), arguments: item.arguments });
        event("response.output_item.done", { output_index: at(), item: { ...item, status: "completed" } });
        items.push({ ...item, status: "completed" });
      },
      end() {
        finish();
        event("response.completed", { response: response("completed") });
      },
      whole({ text, tool }) {
        if (text) {
          items.push({ id: `msg_${id}`, type: "message", role: "assistant", status: "completed",
            content: [{ type: "output_text", text, annotations: [] }] });
        }
        if (tool) {
          items.push({ id: `fc_${tool.call}`, type: "function_call", call_id: tool.call, name: tool.name,
            arguments: JSON.stringify(tool.input), status: "completed" });
        }
        return response("completed");
      },
    };
  },
  error: chat.error,
};

// Anthropic's messages.
const messages = {
  name: "messages",
  isMine: (path) => path.endsWith("/v1/messages"),
  read(body) {
    const out = [];
    for (const { role, content } of body.messages ?? []) {
      const parts = typeof content === "string" ? [{ type: "text", text: content }] : content;
      for (const part of parts) {
        if (part.type === "tool_result") out.push({ role: "tool", text: partsText(part.content) });
        // Text that the program itself adds to a prompt is not a prompt.
        else if (part.type === "text" && !part.text.startsWith("<system-reminder>")) out.push({ role, text: part.text });
        else if (part.type === "tool_use") out.push({ role, text: "" });
      }
    }
    return { model: body.model, isStream: body.stream === true, system: partsText(body.system), messages: out,
      tools: (body.tools ?? []).map(({ name, input_schema: schema }) => ({ name, schema: schema ?? {} })) };
  },
  write(out, { model, id }) {
    let index = -1;
    let isText = false;
    const event = (type, more) => out.event({ type, ...more }, type);
    const stop = () => index >= 0 && event("content_block_stop", { index });
    const message = (content, reason) => ({ id, type: "message", role: "assistant", model, content,
      stop_reason: reason, stop_sequence: null, usage: { input_tokens: 10, output_tokens: 5 } });
    return {
      begin: () => event("message_start", { message: message([], null) }),
      text(text) {
        if (!isText) {
          stop();
          index += 1;
          isText = true;
          event("content_block_start", { index, content_block: { type: "text", text: "" } });
        }
        event("content_block_delta", { index, delta: { type: "text_delta", text } });
      },
      tool({ name, input, call }) {
        stop();
        index += 1;
        isText = false;
        event("content_block_start", { index, content_block: { type: "tool_use", id: call, name, input: {} } });
        event("content_block_delta", { index, delta: { type: "input_json_delta", partial_json: JSON.stringify(input) } });
      },
      end(reason) {
        stop();
        event("message_delta", { delta: { stop_reason: reason === "tool" ? "tool_use" : "end_turn", stop_sequence: null },
          usage: { output_tokens: 5 } });
        event("message_stop", {});
      },
      whole: ({ text, tool, reason }) => message([...(text ? [{ type: "text", text }] : []),
        ...(tool ? [{ type: "tool_use", id: tool.call, name: tool.name, input: tool.input }] : [])],
      reason === "tool" ? "tool_use" : "end_turn"),
    };
  },
  error: ({ status, message: text }) => ({ type: "error", error: { type: status === 429 ? "rate_limit_error" : "api_error",
    message: text } }),
};

// Gemini's generateContent.
const gemini = {
  name: "gemini",
  isMine: (path) => /:(stream)?generateContent/i.test(path),
  read(body, path) {
    const out = [];
    for (const { role, parts } of body.contents ?? []) {
      for (const part of parts ?? []) {
        if (part.functionResponse) out.push({ role: "tool", text: JSON.stringify(part.functionResponse.response ?? "") });
        else if (part.functionCall) out.push({ role: "assistant", text: "" });
        else if (part.text !== undefined && !part.text.startsWith("<session_context>")) {
          out.push({ role: role === "model" ? "assistant" : "user", text: part.text });
        }
      }
    }
    const declared = (body.tools ?? []).flatMap((tool) => tool.functionDeclarations ?? []);
    return { model: /models\/([^:]+)/.exec(path)?.[1] ?? "", isStream: /:streamGenerateContent/.test(path),
      system: partsText(body.systemInstruction?.parts ?? ""), messages: out,
      tools: declared.map(({ name, parameters, parametersJsonSchema }) => ({ name,
        schema: parametersJsonSchema ?? parameters ?? {} })) };
  },
  write(out, { model }) {
    const answer = (parts, reason) => ({ candidates: [{ index: 0, content: { role: "model", parts },
      ...(reason && { finishReason: reason }) }], modelVersion: model,
    usageMetadata: { promptTokenCount: 10, candidatesTokenCount: 5, totalTokenCount: 15 } });
    const part = ({ name, input }) => ({ functionCall: { name, args: input } });
    return {
      begin() {},
      text: (text) => out.event(answer([{ text }])),
      tool: (tool) => out.event(answer([part(tool)])),
      end: () => out.event(answer([{ text: "" }], "STOP")),
      whole: ({ text, tool }) => answer([...(text ? [{ text }] : []), ...(tool ? [part(tool)] : [])], "STOP"),
    };
  },
  error: ({ status, message: text, resetSeconds }) => ({ error: { code: status, message: text,
    status: status === 429 ? "RESOURCE_EXHAUSTED" : "INTERNAL",
    details: status === 429 ? [{ "@type": "type.googleapis.com/google.rpc.RetryInfo", retryDelay: `${resetSeconds}s` }] : [] } }),
};

export const apis = [chat, responses, messages, gemini];
