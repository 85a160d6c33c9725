/**
 * Preloaded into daemons and hooks of a sabotaged chaos run (NODE_OPTIONS=--require): takes one thing away that the program
 * needs, named by CHAOS_MUTANT. The run must notice it.
 */
const fs = require('node:fs')
const Module = require('node:module')

const { fsyncSync, writeFileSync } = fs
const pathOf = (descriptor) => fs.readlinkSync(`/proc/self/fd/${descriptor}`)

function withoutSync(isMeant) {
  fs.fsyncSync = (descriptor) => {
    if (!isMeant(descriptor)) fsyncSync(descriptor)
  }
  Module.syncBuiltinESMExports()
}

const MUTANTS = {
  'spool-files-unsynced': () => withoutSync((descriptor) => /\/spool\/./.test(pathOf(descriptor))),
  'directories-unsynced': () => withoutSync((descriptor) => fs.fstatSync(descriptor).isDirectory()),
  'files-unsynced': () => withoutSync(() => true),
  'database-unsynced': () => {
    const load = Module._load
    Module._load = (request, ...rest) => {
      const loaded = load(request, ...rest)
      const { prototype } = typeof loaded === 'function' ? loaded : {}
      if (prototype?.pragma !== undefined && !prototype.isWeak) {
        const { pragma } = prototype
        prototype.isWeak = true
        prototype.pragma = function weakened(source, options) {
          return pragma.call(this, source.startsWith('synchronous') ? 'synchronous = OFF' : source, options)
        }
      }
      return loaded
    }
  },
  'spool-wiped': () => {
    fs.writeFileSync = (file, data, options) =>
      writeFileSync(file, String(data).startsWith('{"v":') ? wiped(String(data)) : data, options)
    Module.syncBuiltinESMExports()
  },
}

const TEXTS = ['text', 'response', 'error', 'lastMessage']

function wiped(data) {
  return JSON.stringify(JSON.parse(data), (key, value) => (TEXTS.includes(key) && value !== null ? '' : value))
}

MUTANTS[process.env.CHAOS_MUTANT]?.()
