/** Requests by hand: which status the server answered with. */
import { int, lastLine } from './output.ts'
import { type Reader, reading } from './reading.ts'

export const readHttp: Reader = (run, out) => {
  if (!/^(?:curl|http|https|xh|wget|curlie)$/.test(run.program)) return null
  const url = run.args
    .map((arg) => /^(?:https?:\/\/)?(?:[\w.-]+|\[::1\])(?::\d+)?(?:\/\S*)?$/.exec(arg)?.[0] ?? '')
    .find((arg) => /:\/\/|localhost|:\d+/.test(arg))
  const asked = run.args.find((_, i) => /^(?:-X|--request)$/.test(run.args[i - 1] ?? ''))
  const method =
    asked ??
    run.args.find((arg) => /^(?:GET|POST|PUT|PATCH|DELETE|HEAD)$/.test(arg)) ??
    (run.args.some((arg) => /^(?:-d|--data\S*|--json|-F)$/.test(arg)) ? 'POST' : 'GET')
  const line =
    lastLine(out, /(?:^|[<\s])HTTP\/[\d.]+ (\d{3})(?: ([A-Za-z][\w -]{0,40}))?/) ??
    awaited(out) ??
    printed(run.args, out)
  if (line === null || url === undefined) return null
  const status = `${line[1]}${line[2] ? ` ${line[2].trim()}` : ''}`
  return reading({
    headline: `HTTP ${status}`,
    facts: [`${method} ${withoutSecrets(url)} answers ${status}`],
    failed: false,
  })
}

function awaited(out: Parameters<Reader>[1]): string[] | null {
  return lastLine(out, /awaiting response\.\.\. (\d{3}) (\w[\w ]*)/)
}

/** `curl -w '%{http_code}'` prints the bare number. */
function printed(args: string[], out: Parameters<Reader>[1]): string[] | null {
  if (!args.some((arg) => arg.includes('%{http_code}') || arg.includes('%{response_code}'))) return null
  const found = lastLine(out, /(?:^|\D)([1-5]\d{2})\s*$/)
  return found && int(found[1]) >= 100 ? found : null
}

/** A query may carry a token; the path is what identifies the endpoint. */
function withoutSecrets(url: string): string {
  return url.replace(/\?.*$/, '').replace(/\/\/[^@/]*@/, '//')
}
