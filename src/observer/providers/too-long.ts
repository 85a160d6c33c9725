/**
 * "Too long" in every provider's words. It is nobody's failure: the conversation is compacted and the batch sent again.
 * No API has one code for it, so the words decide; they are the ones that were seen in the wild.
 */
interface Wording {
  says: RegExp
  /** Who says so. */
  source: string
}

/** Gaps are bounded and no two of them can share characters, so that the time stays linear. */
export const TOO_LONG: readonly Wording[] = [
  { says: /prompt (?:is )?too long/i, source: 'Anthropic, Bedrock, Claude Code' },
  { says: /conversation (?:is )?too long/i, source: 'Claude Code' },
  { says: /input length and `?max_tokens`? exceed context limit/i, source: 'Anthropic' },
  { says: /model_context_window_exceeded/i, source: 'Anthropic, as a stop reason' },
  { says: /request_too_large|request exceeds the maximum (?:allowed )?(?:size|number of bytes)/i, source: 'Anthropic' },
  { says: /context_length_exceeded|string_above_max_length/i, source: 'OpenAI, Azure, Groq, LiteLLM' },
  {
    says: /maximum (?:context|model|prompt|input) length/i,
    source: 'OpenAI, vLLM, OpenRouter, DeepSeek, xAI, Mistral',
  },
  { says: /reduce the length of (?:the|your) (?:messages|prompt|input)/i, source: 'OpenAI, Groq, vLLM' },
  { says: /request too large for /i, source: 'OpenAI, Groq: one request above the allowance of a whole minute' },
  { says: /(?:longer|greater) than the (?:model'?s )?(?:maximum )?(?:context|model) length/i, source: 'SGLang, vLLM' },
  { says: /context length is only \d/i, source: 'vLLM' },
  { says: /context length of only \d|context the overflows/i, source: 'LM Studio' },
  { says: /exceed_context_size|exceeds? the (?:available )?context (?:size|length)/i, source: 'llama.cpp, Ollama' },
  { says: /context (?:size|length|limit) (?:has been |was )?exceeded/i, source: 'LM Studio, llama.cpp' },
  { says: /context window (?:has been |was )?exceed/i, source: 'MiniMax, LiteLLM' },
  {
    says: /exceeds?(?:ed|s)? (?:the |your |its |this )?(?:model'?s? )?context window/i,
    source: 'OpenAI, llama-cpp-python',
  },
  { says: /ContextWindowExceeded/i, source: 'LiteLLM' },
  { says: /input token count[^.]{0,40}exceeds/i, source: 'Gemini' },
  { says: /token count[^.]{0,40}exceeds the (?:limit|maximum|model)/i, source: 'GitHub Models, SGLang' },
  { says: /model_max_prompt_tokens_exceeded/i, source: 'GitHub Models' },
  {
    says: /PromptExceedMaxTokens|tokens in request more than max tokens allowed/i,
    source: 'OpenAI-compatible gateways',
  },
  { says: /(?:prompt|input) exceeds (?:the )?max(?:imum)? (?:length|tokens|context)/i, source: 'Zhipu' },
  { says: /exceeded (?:the )?model token limit/i, source: 'Moonshot' },
  { says: /range of input length should be/i, source: 'DashScope' },
  { says: /input (?:is|length) too long/i, source: 'Bedrock, DeepSeek' },
  { says: /too large for model with/i, source: 'Mistral' },
  { says: /too many (?:input )?tokens: /i, source: 'Cohere' },
  { says: /`?inputs`? tokens \+ `?max_new_tokens`? must be/i, source: 'Text Generation Inference' },
]

/**
 * An allowance for a stretch of time: waiting helps, shortening does not. Not so a single request that is larger than
 * the whole allowance: no waiting will ever let it through.
 */
const RATE_LIMIT = /(?:tokens|requests) per (?:min|minute|hour|day|second)\b|\b(?:TPM|RPM|TPD)\b|rate[ _]limit/i
const ONE_REQUEST = /request too large for /i

/** Longer error texts repeat the request. */
const MAX_CHARS = 16_384

/** `text` is a provider's error: its body, or what a program wrote. Never a model's answer. */
export function saysTooLong(text: string): boolean {
  const head = text.slice(0, MAX_CHARS)
  if (RATE_LIMIT.test(head)) return ONE_REQUEST.test(head)
  return TOO_LONG.some(({ says }) => says.test(head))
}
