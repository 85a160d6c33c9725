import { type CommandInput, readCommand } from '../../../../src/observer/tool-events/commands/index.ts'

/** A command that succeeded, with what it printed. */
export function ran(command: string, stdout = '', more: Partial<CommandInput> = {}) {
  return readCommand({ command, stdout, stderr: '', failed: false, error: null, ...more })
}

/** A command that failed, as the client reports it. */
export function failed(command: string, output: string, code = 1) {
  return ran(command, '', { failed: true, error: `Exit code ${code}\n${output}` })
}
