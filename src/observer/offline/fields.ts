/** Values of any shape, read with care. */
export type Fields = Record<string, unknown>

export function recordOf(value: unknown): Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : {}
}
export function textIn(fields: Fields, name: string): string {
  const value = fields[name]
  return typeof value === 'string' ? value : ''
}
export function numberIn(fields: Fields, name: string): number {
  const value = fields[name]
  return typeof value === 'number' ? value : 0
}
export function linesOf(text: string): string[] {
  return text === '' ? [] : text.split(/\r\n|\n|\r/)
}
