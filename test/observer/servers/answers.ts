/** The answers of an ideal model to our prompts. */
import type { ModelRequest } from './fault.ts'

/** One observation per tool use, one summary per turn. */
export function goodAnswer({ messages }: Pick<ModelRequest, 'messages'>): string {
  const last = messages.at(-1)?.content ?? ''
  if (last.includes('The turn is over')) {
    return '<summary><request>what was asked</request><completed>what was done</completed></summary>'
  }
  return toolUsesIn(last)
    .map(
      ({ n, tool, subject }) =>
        `<observation from="${n}"><type>change</type><title>${tool} of ${subject}</title><narrative>It was done.</narrative></observation>`,
    )
    .join('\n')
}

export function toolUsesIn(text: string): { n: number; tool: string; subject: string }[] {
  return [...text.matchAll(/<tool_use n="(\d+)" tool="([^"]+)"[^>]*>\s*([^\n]*)/g)].map(([, n, tool, subject]) => ({
    n: Number(n),
    tool: tool ?? '',
    subject: (subject ?? '').replace(/[<>&]/g, ' ').trim(),
  }))
}
