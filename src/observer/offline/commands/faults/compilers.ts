/** What compilers and type checkers say: message, file, line, column. */
import { allLines, type Output } from '../output.ts'
import { type Fault, fault } from '../reading.ts'

export function typescript(out: Output): Fault[] {
  const plain = allLines(
    out,
    /^(?:.{0,40}?\s)?(\S[^\s()]{0,200}\.[cm]?[jt]sx?|\S{1,200}\.(?:vue|svelte))\((\d+),(\d+)\): error (TS\d+): (.+)$/,
  )
  const pretty = allLines(out, /^(\S{1,200}):(\d+):(\d+) - error (TS\d+): (.+)$/)
  const global = allLines(out, /^error (TS\d+): (.+)$/).map(([, code, said]) => fault(`error ${code}: ${said}`))
  return [
    ...[...plain, ...pretty].map(([, file, line, column, code, said]) =>
      fault(`error ${code}: ${said}`, `${file}:${line}:${column}`),
    ),
    ...global,
  ]
}

export function rust(out: Output): Fault[] {
  return out.lines.flatMap((line, i) => {
    const head = /^error(\[E\d+\])?: (.+)$/.exec(line)
    if (
      !head ||
      /^(?:could not compile|aborting due to|test failed|\d+ targets? failed|process didn't exit)/.test(head[2] ?? '')
    )
      return []
    const below = out.lines.slice(i + 1, i + 12)
    const place = /^\s*--> (\S+:\d+:\d+)/.exec(below[0] ?? '') ?? /^\s*--> (\S+:\d+:\d+)/.exec(below[1] ?? '')
    if (!place && head[1] === undefined) return []
    const label = below.flatMap((next) => /^\s*\|.*?\^+ (\S.*)$/.exec(next)?.[1] ?? [])[0]
    return [fault(`error${head[1] ?? ''}: ${head[2]}${label ? `; ${label}` : ''}`, place?.[1] ?? null)]
  })
}

export function go(out: Output): Fault[] {
  return allLines(out, /^(?:vet: )?(?:\.\/)?((?:[\w.@~-]+\/)*[\w.-]+\.go:\d+:\d+): (.+)$/).map(
    ([, place = '', said = '']) => fault(said, place),
  )
}

export function native(out: Output): Fault[] {
  const compile = allLines(out, /^(?:\.\/)?([^\s:]{1,200}):(\d+):(?:(\d+):)? (?:fatal )?error: (.+)$/).map(
    ([, file, line, column, said = '']) => fault(said, `${file}:${line}${column ? `:${column}` : ''}`),
  )
  const link = allLines(out, /(?:^|\s)(?:([\w./-]{1,200}\.\w+):)?\(\.text.{0,40}\): (undefined reference to .+)$/).map(
    ([, file = '', said = '']) => fault(said, file),
  )
  const multiple = allLines(out, /(multiple definition of .+?)[;:]/).map(([, said = '']) => fault(said))
  const missing = allLines(out, /ld: (cannot find -l\S+.*|library not found for .+|symbol\(s\) not found .+)$/).map(
    ([, said = '']) => fault(said),
  )
  const cmake = out.lines.flatMap((line, i) => {
    const head = /^CMake Error at ([^\s:]+:\d+)/.exec(line)
    return head ? [fault((out.lines[i + 1] ?? '').trim(), head[1] ?? null)] : []
  })
  return [...compile, ...link, ...multiple, ...missing, ...cmake]
}

export function jvm(out: Output): Fault[] {
  const maven = allLines(out, /^\[ERROR\] (\/?\S{1,250}\.(?:java|kt|scala|groovy)):\[(\d+),(\d+)\] (.+)$/)
  const javac = allLines(out, /^(?:\.\/)?([^\s:]{1,250}\.java):(\d+): error: (.+)$/).map(([, file, line, said = '']) =>
    fault(said, `${file}:${line}`),
  )
  const kotlin = allLines(out, /^e: (?:file:\/\/)?([^\s:]{1,250}\.kts?):(?: \()?(\d+)[:,] ?(\d+)\)?:? (.+)$/)
  const placed = [...maven, ...kotlin].map(([, file, line, column, said = '']) =>
    fault(said, `${file}:${line}:${column}`),
  )
  const goal = allLines(out, /^\[ERROR\] (Failed to execute goal .+|Could not (?:find|resolve) .+)$/).map(
    ([, said = '']) => fault(said),
  )
  return [...placed, ...javac, ...goal]
}

export function dotnet(out: Output): Fault[] {
  return allLines(
    out,
    /^\s*(?:\d+>)?(\S[^()]{0,250}?\.(?:cs|fs|vb|csproj))\((\d+),(\d+)\): error ([A-Z]+\d+): (.+?)(?: \[[^\]]+\])?$/,
  ).map(([, file, line, column, code, said]) => fault(`error ${code}: ${said}`, `${file}:${line}:${column}`))
}

export function elixir(out: Output): Fault[] {
  const raised = out.lines.flatMap((line, i) => {
    const head = /^\s*\*\* \((\w[\w.]*)\) (.+)$/.exec(line)
    if (!head) return []
    const place = /((?:lib|test|web|config)\/\S+\.exs?:\d+)/.exec(out.lines.slice(i, i + 6).join('\n'))
    return [fault(`${head[1]}: ${head[2]}`, place?.[1] ?? null)]
  })
  const compile = out.lines.flatMap((line, i) => {
    const place = /└─ ([^\s:]+\.exs?:\d+(?::\d+)?)/.exec(line)
    const head = place
      ? out.lines
          .slice(Math.max(0, i - 8), i)
          .reverse()
          .flatMap((above) => /^\s*error: (.+)$/.exec(above)?.[1] ?? [])[0]
      : undefined
    return head === undefined ? [] : [fault(head, place?.[1] ?? null)]
  })
  return [...raised, ...compile]
}

/** esbuild, Vite, webpack, Rollup. */
export function bundlers(out: Output): Fault[] {
  return out.lines.flatMap((line, i) => {
    const near = out.lines.slice(i + 1, i + 6)
    const esbuild = /^✘ \[ERROR\] (.+)$/.exec(line)
    if (esbuild)
      return [fault(esbuild[1] ?? '', near.flatMap((next) => /^\s+(\S+:\d+:\d+):$/.exec(next)?.[1] ?? [])[0] ?? null)]
    const webpack = /^(?:ERROR|Error) in (\.?\/?\S+?)(?:[ :](\d+):(\d+)(?:-\d+)?)?$/.exec(line)
    if (webpack)
      return [
        fault(
          (near[0] ?? '').replace(/^Module (?:not found|build failed[^:]*): Error: /, (said) =>
            said.replace('Error: ', ''),
          ),
          webpack[2] ? `${webpack[1]}:${webpack[2]}:${webpack[3]}` : (webpack[1] ?? null),
        ),
      ]
    const resolve =
      /((?:Could not|Failed to) resolve (?:import |entry )?["'].{1,150}["'](?: from ["'](.{1,150}?)["'])?.*)$/.exec(
        line,
      )
    return resolve ? [fault((resolve[1] ?? '').split('. ')[0] ?? '', resolve[2] ?? null)] : []
  })
}
