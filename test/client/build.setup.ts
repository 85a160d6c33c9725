/** One build for all files, in a directory which no other run replaces meanwhile; inside node_modules, where it finds its packages. */
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { TestProject } from 'vitest/node'

declare module 'vitest' {
  interface ProvidedContext {
    dist: string
  }
}

const ROOT = join(import.meta.dirname, '..', '..')

export default function build({ provide }: TestProject): () => void {
  const cache = join(ROOT, 'node_modules', '.cache')
  mkdirSync(cache, { recursive: true })
  const dist = mkdtempSync(join(cache, 'claude-mem-client-'))
  const env = { ...process.env, CLAUDE_MEM_BUILD_DIR: dist }
  execFileSync(process.execPath, [join(ROOT, 'scripts', 'build.mjs')], { env, stdio: 'inherit' })
  provide('dist', dist)
  return () => rmSync(dist, { recursive: true, force: true })
}
