/** Runs a TypeScript script of this folder on plain Node: `node scripts/run.mjs bench hook --json`. */
import { spawn } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'

const [name, ...args] = process.argv.slice(2)
const scripts = dirname(fileURLToPath(import.meta.url))
const out = join(scripts, '..', 'node_modules', '.cache', 'claude-mem', `${name}.mjs`)
mkdirSync(dirname(out), { recursive: true })
await build({
  entryPoints: [join(scripts, `${name}.ts`)],
  outfile: out,
  bundle: true,
  format: 'esm',
  platform: 'node',
  target: 'node20',
  packages: 'external',
  sourcemap: 'inline',
  logLevel: 'warning',
})
const child = spawn(process.execPath, ['--enable-source-maps', out, ...args], { stdio: 'inherit' })
// Windows has told the child of Ctrl-C already, and `kill` would end it before it can clean up.
for (const signal of ['SIGINT', 'SIGTERM']) {
  process.on(signal, () => process.platform === 'win32' || child.kill(signal))
}
child.on('exit', (code, signal) => {
  process.exitCode = signal === null ? (code ?? 1) : 1
})
