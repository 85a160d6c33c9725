/** Fields of JSON values of unknown shape, with a default for each type. */
export type JsonFields = Record<string, unknown>

function isFields(value: unknown): value is JsonFields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** No fields, where the value is not an object. */
export function asFields(value: unknown): JsonFields {
  return isFields(value) ? value : {}
}

export function stringField(fields: JsonFields, name: string): string {
  const value = fields[name]
  return typeof value === 'string' ? value : ''
}

export function numberField(fields: JsonFields, name: string): number {
  const value = fields[name]
  return typeof value === 'number' ? value : 0
}

export function splitTextLines(text: string): string[] {
  return text === '' ? [] : text.split(/\r\n|\n|\r/)
}
