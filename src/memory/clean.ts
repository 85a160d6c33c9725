/**
 * What becomes of a text before it leaves the hook's process, in this order: private parts go, on the whole
 * text; it is cut with a margin; secrets are masked; it is cut to its bound.
 */
import { isPlaceholder, secretKindOf } from './assignments.ts'
import { type Bounds, boundValue, cutText, DEFAULT_BOUNDS, type Mask } from './bound.ts'
import { commandNamesEnvFile, isEnvContentField, maskEnvFile, maskEnvLines, namesEnvFile } from './env-file.ts'
import { removePrivate, removePrivateDeep } from './privacy.ts'
import { maskSecrets, PRIVATE_KEYS } from './secrets.ts'
import { removeSpans, removeSpansDeep } from './spans.ts'

export function cleanText(text: string, max: number = DEFAULT_BOUNDS.text): string {
  return cutText(removeSpans(removePrivate(text), PRIVATE_KEYS), max, maskSecrets)
}

/** A tool's input and response (or error) together: a path in one says what the content in the other is. */
export function cleanTool<T extends Record<string, unknown>>(
  fields: T,
  bounds: Bounds = DEFAULT_BOUNDS,
): Record<keyof T, unknown> {
  const shown = removeSpansDeep(removePrivateDeep(fields), PRIVATE_KEYS)
  const bounded = boundValue(shown, bounds, maskFor(fields))
  const result = typeof bounded === 'object' && bounded !== null ? bounded : {}
  const cleaned: Partial<Record<keyof T, unknown>> = {}
  for (const name of Object.keys(fields) as (keyof T)[]) cleaned[name] = Reflect.get(result, name) ?? null
  return cleaned as Record<keyof T, unknown>
}

function maskFor(fields: Record<string, unknown>): Mask {
  if (namesEnvFile(fields)) return (text, key) => (isEnvContentField(key) ? maskEnvFile(text) : maskSecrets(text))
  const command =
    typeof fields.input === 'object' && fields.input !== null ? Reflect.get(fields.input, 'command') : null
  if (typeof command === 'string' && commandNamesEnvFile(command)) {
    return (text, key) => maskNamed(key === 'command' ? text : maskEnvLines(text), key)
  }
  return maskNamed
}

/** In JSON the name of a secret is the key of its value. */
const maskNamed: Mask = (text, key) => {
  const kind = key === null ? null : secretKindOf(key)
  return kind === null || isPlaceholder(text) ? maskSecrets(text) : `[secret:${kind}]`
}
