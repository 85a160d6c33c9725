/** Error texts of real providers, from public reports. */
import { describe, expect, test } from 'vitest'
import { isTooLongError, TOO_LONG_WORDINGS } from '../../../src/observer/providers/failures.ts'

const TEXTS = [
  'prompt is too long: 209353 tokens > 199999 maximum',
  'Prompt too long',
  'Conversation too long. Press esc twice to go up a few messages and try again.',
  'input length and `max_tokens` exceed context limit: 199759 + 8192 > 200000, decrease input length or `max_tokens`',
  '{"stop_reason":"model_context_window_exceeded"}',
  '{"type":"error","error":{"type":"request_too_large","message":"Request exceeds the maximum size"}}',
  '{"error":{"code":"context_length_exceeded"}}',
  "This model's maximum context length is 65536 tokens. However, you requested 69648 tokens",
  "This model's maximum prompt length is 131072 but the request contains 537812 tokens.",
  'Please reduce the length of the messages or completion.',
  'Request too large for gpt-4o in organization org-x on tokens per min (TPM): Limit 30000, Requested 31000.',
  "The input (5001 tokens) is longer than the model's context length (4096 tokens)",
  'You passed 5001 input tokens. However, the model’s context length is only 5000 tokens',
  'Trying to keep the first 111490 tokens when context the overflows. However, the model is loaded with context length of only 32768 tokens',
  'the request exceeds the available context size. try increasing the context size or enable context shift',
  'request (14429 tokens) exceeds the available context size (8192 tokens), try increasing it',
  'the input length exceeds the context length',
  'Context size has been exceeded.',
  'invalid params, context window exceeds limit (2013)',
  'Your input exceeds the context window of this model.',
  'Requested tokens (1817) exceed context window of 512',
  'litellm.ContextWindowExceededError',
  'The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).',
  'prompt token count of 138392 exceeds the limit of 128000',
  'model_max_prompt_tokens_exceeded',
  'PromptExceedMaxTokens',
  'Prompt exceeds max length',
  'Invalid request: Your request exceeded model token limit: 8192',
  'Range of input length should be [1, 30720]',
  'ValidationException: Input is too long for requested model.',
  'Prompt contains 40000 tokens, too large for model with 32768 maximum context length',
  'too many tokens: total number of tokens in the prompt cannot exceed 4081',
  '`inputs` tokens + `max_new_tokens` must be <= 4096',
]

describe('too-long', () => {
  test.each(TEXTS)('%s', (text) => {
    expect(isTooLongError(text)).toBe(true)
    expect(isTooLongError(text.toUpperCase())).toBe(true)
  })

  test('every wording of the table has an example', () => {
    expect(
      TOO_LONG_WORDINGS.filter(([pattern]) => !TEXTS.some((text) => pattern.test(text))).map(([, source]) => source),
    ).toEqual([])
  })

  test.each([
    '',
    'Overloaded',
    'invalid x-api-key',
    'This request would exceed your organization’s rate limit of 40,000 input tokens per minute.',
    'Rate limit reached for gpt-4 on tokens per min (TPM): Limit 10000, Used 9000, Requested 2000. Please reduce the length of the messages.',
    'max_tokens: 100000 > 8192, which is the maximum allowed number of output tokens',
    'You exceeded your current quota, please check your plan and billing details.',
    'messages: at least one message is required',
    'The model has a context window of 8192 tokens.',
    'Request was too slow',
  ])('"%s" is another error', (text) => {
    expect(isTooLongError(text)).toBe(false)
  })

  test('a huge text takes linear time', () => {
    for (const piece of ['input token count ', 'token count exceeds ', 'maximum ', 'prompt ']) {
      expect(isTooLongError(piece.repeat(1_000_000))).toBe(false)
    }
  })
})
